// A minimal MCP server on the official TypeScript SDK that keeps states in
// SQLite, as durable as satchel: WAL with synchronous=FULL.
//
//   node peer.mjs DATABASE            stdio
//   node peer.mjs DATABASE http       HTTP; prints its URL on stderr

import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import Database from "better-sqlite3";
import { z } from "zod";

const db = new Database(process.argv[2]);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec(`CREATE TABLE IF NOT EXISTS states (
  user TEXT, handle TEXT, kind TEXT, version INTEGER, state TEXT,
  created REAL, updated REAL, PRIMARY KEY (user, handle))`);
const find = db.prepare("SELECT * FROM states WHERE user = ? AND handle = ?");
const insert = db.prepare("INSERT INTO states VALUES (?, ?, ?, 1, ?, ?, ?)");
const update = db.prepare(
  "UPDATE states SET state = ?, version = ?, updated = ? WHERE user = ? AND handle = ? AND version = ?");
const user = "bench";

const described = (row, state) => ({
  ok: true, handle: row.handle, kind: row.kind, version: row.version,
  created_at: row.created, updated_at: row.updated, expires_at: null, last_writer: "",
  ...(state === undefined ? {} : { state }),
});
const reply = (object) => ({
  content: [{ type: "text", text: JSON.stringify(object) }],
  structuredContent: object,
  ...(object.ok ? {} : { isError: true }),
});
const missing = () => reply({ ok: false, error: { code: "handle_not_found", message: "no such handle" } });

function save({ kind, state }) {
  const now = Date.now() / 1000;
  const handle = `${kind}_${randomBytes(5).toString("hex")}`;
  insert.run(user, handle, kind, JSON.stringify(state), now, now);
  return reply(described({ handle, kind, version: 1, created: now, updated: now }));
}

function load({ handle }) {
  const row = find.get(user, handle);
  return row ? reply(described(row, JSON.parse(row.state))) : missing();
}

const change = db.transaction(({ handle, ops }) => {
  const row = find.get(user, handle);
  if (!row) return missing();
  const state = JSON.parse(row.state);
  for (const op of ops) state[op.key] = op.value;
  const now = Date.now() / 1000;
  update.run(JSON.stringify(state), row.version + 1, now, user, handle, row.version);
  return reply(described({ ...row, version: row.version + 1, updated: now }));
});

function server() {
  const mcp = new McpServer({ name: "peer", version: "1.0.0" });
  mcp.registerTool("state_save", { inputSchema: { kind: z.string(), state: z.record(z.any()) } }, save);
  mcp.registerTool("state_load", { inputSchema: { handle: z.string() } }, load);
  mcp.registerTool("state_patch", {
    inputSchema: { handle: z.string(), ops: z.array(z.any()), return_state: z.boolean().optional() },
  }, change);
  return mcp;
}

if (process.argv[3] !== "http") {
  await server().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await server().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () =>
    console.error(`http://127.0.0.1:${http.address().port}/mcp`));
}
