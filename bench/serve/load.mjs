// Calls a tool of an MCP server with a fixed number of calls in flight and
// prints calls a second and latencies as one JSON line. The same generator for
// every server; it parses as little as it can.
//
//   node load.mjs TOOL IN_FLIGHT SECONDS stdio CMD ARG...
//   node load.mjs TOOL IN_FLIGHT SECONDS http URL

import { spawn } from "node:child_process";
import { connect } from "node:net";

const [tool, inFlightText, secondsText, transport, ...rest] = process.argv.slice(2);
const inFlight = Number(inFlightText);
const seconds = Number(secondsText);
const idMark = '"id":"q';

const stateOf = (bytes) => {
  const items = [];
  for (let i = 0; items.length * 22 < bytes; ++i) items.push({ item: 1000000000 + i });
  return { note: "", items };
};
const call = (id, name, args) =>
  JSON.stringify({ jsonrpc: "2.0", id: `q${id}`, method: "tools/call", params: { name, arguments: args } });
const initialize = JSON.stringify({
  jsonrpc: "2.0", id: "q-1", method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "load", version: "1" } },
});
const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
const idIn = (text) => {
  const at = text.lastIndexOf(idMark);
  const from = at >= 0 ? at : text.indexOf(idMark);
  return Number.parseInt(text.slice(from + idMark.length), 10);
};

/// send(text) answers with the whole reply text; as many at once as are asked.
function overStdio([command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let parts = [];
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    let from = 0;
    for (let to; (to = chunk.indexOf("\n", from)) >= 0; from = to + 1) {
      parts.push(chunk.slice(from, to));
      const line = parts.length === 1 ? parts[0] : parts.join("");
      parts = [];
      const id = idIn(line);
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(line);
    }
    if (from < chunk.length) parts.push(chunk.slice(from));
  });
  return {
    send: (text, id) => new Promise((done) => {
      if (id !== undefined) waiting.set(id, done);
      child.stdin.write(text + "\n");
      if (id === undefined) done("");
    }),
    close: () => new Promise((done) => { child.on("exit", done); child.stdin.end(); }),
  };
}

/// One keep-alive connection with one call in flight.
class Connection {
  constructor(url) {
    this.url = url;
    this.socket = connect(Number(url.port), url.hostname);
    this.socket.setNoDelay(true);
    this.socket.setEncoding("latin1");
    this.text = "";
    this.socket.on("data", (chunk) => { this.text += chunk; this.take(); });
  }
  take() {
    const head = this.text.indexOf("\r\n\r\n");
    if (head < 0) return;
    const headers = this.text.slice(0, head).toLowerCase();
    const length = /content-length: *(\d+)/.exec(headers);
    const body = head + 4;
    const end = length ? body + Number(length[1])
      : headers.includes("chunked") ? this.text.indexOf("0\r\n\r\n", body) + 5 : body;
    if (this.text.length < end || end < body) return;
    const reply = this.text.slice(0, end);
    this.text = this.text.slice(end);
    this.done(reply);
  }
  send(text, session) {
    return new Promise((done) => {
      this.done = done;
      this.socket.write(
        `POST ${this.url.pathname} HTTP/1.1\r\nHost: ${this.url.host}\r\n` +
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
        "MCP-Protocol-Version: 2025-06-18\r\n" +
        (session ? `Mcp-Session-Id: ${session}\r\n` : "") +
        `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    });
  }
}

function overHttp([url]) {
  const free = [];
  const all = [];
  let session = "";
  return {
    async send(text, id) {
      const connection = free.pop() ?? new Connection(new URL(url));
      if (!all.includes(connection)) all.push(connection);
      const reply = await connection.send(text, session);
      free.push(connection);
      if (id === -1) session = /mcp-session-id: *(\S+)/i.exec(reply)?.[1] ?? "";
      return reply;
    },
    close: async () => { for (const each of all) each.socket.destroy(); },
  };
}

const server = transport === "stdio" ? overStdio(rest) : overHttp(rest);
await server.send(initialize, -1);
await server.send(initialized);
const minted = await server.send(call(0, "state_save", { kind: "bench", state: stateOf(4096) }), 0);
const handle = /bench_[a-z0-9]+/.exec(minted)[0];

let next = 1;
let patches = 0;
const latencies = [];
const argumentsOf = {
  state_load: () => ({ handle }),
  state_patch: (n) => {
    ++patches;
    return { handle, return_state: false,
      ops: [{ op: "set_key", path: "", key: "note", value: `${n}`.padEnd(110, "x") }] };
  },
}[tool];

async function worker(until) {
  while (performance.now() < until) {
    const id = next++;
    const text = call(id, tool, argumentsOf(id));
    const begin = performance.now();
    const reply = await server.send(text, id);
    latencies.push(performance.now() - begin);
    if (!reply.includes('"ok":true') && !reply.includes('\\"ok\\":true')) {
      throw new Error(`a call failed: ${reply.slice(0, 500)}`);
    }
  }
}
const run = (ms) => Promise.all(
  Array.from({ length: inFlight }, () => worker(performance.now() + ms)));
await run(300);  // warm
latencies.length = 0;
const begin = performance.now();
await run(seconds * 1000);
const elapsed = (performance.now() - begin) / 1000;

// Nobody wins by not doing the work.
const id = next++;
const final = await server.send(call(id, "state_load", { handle }), id);
const version = Number(/\\?"version\\?":(\d+)/.exec(final)[1]);
if (version !== patches + 1) throw new Error(`version ${version} after ${patches} patches`);
await server.close();

latencies.sort((a, b) => a - b);
const percentile = (p) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * p))];
console.log(JSON.stringify({
  tool, transport, in_flight: inFlight, calls_per_second: latencies.length / elapsed,
  p50_ms: percentile(0.5), p95_ms: percentile(0.95), p99_ms: percentile(0.99),
}));
process.exit(0);
