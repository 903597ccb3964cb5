// Runs load.mjs against `satchel serve` and the peer, interleaved over rounds,
// and writes the medians as a table into a Markdown file, between its markers.
//
//   node run.mjs SATCHEL README [ROUNDS [SECONDS]]

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [satchel, readme, rounds = "3", seconds = "3"] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;
const folder = mkdtempSync(join(process.env.SATCHEL_BENCH_DIR ?? tmpdir(), "serve-bench-"));

const commands = {
  satchel: (transport) => [satchel, "serve", "--store", join(folder, "store-" + transport),
    ...(transport === "http" ? ["--transport", "http", "--port", "0", "--allow-anonymous"] : [])],
  peer: (transport) => ["node", join(here, "peer.mjs"), join(folder, transport + ".db"),
    ...(transport === "http" ? ["http"] : [])],
};

/// Starts an HTTP server; resolves when it has printed its URL.
function start([command, ...args]) {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((done, fail) => {
    let text = "";
    child.on("exit", (code) => fail(new Error(`${command} ended with ${code}: ${text}`)));
    child.stderr.on("data", (chunk) => {
      text += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(text);
      if (url) done({ child, url: url[0] });
    });
  });
}

function measure(tool, inFlight, ...target) {
  const out = execFileSync("node", [join(here, "load.mjs"), tool, inFlight, seconds, ...target],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(out);
}

const results = new Map();
const servers = {
  satchel: await start(commands.satchel("http")),
  peer: await start(commands.peer("http")),
};
for (let round = 1; round <= Number(rounds); ++round) {
  for (const transport of ["stdio", "http"]) {
    for (const tool of ["state_load", "state_patch"]) {
      for (const inFlight of [1, 16, 256]) {
        for (const who of ["satchel", "peer"]) {
          const target = transport === "http" ? ["http", servers[who].url]
            : ["stdio", ...commands[who]("stdio")];
          const key = [transport, tool, inFlight, who].join(" ");
          const one = measure(tool, String(inFlight), ...target);
          results.set(key, [...(results.get(key) ?? []), one]);
          process.stderr.write(`round ${round}: ${key}: ${one.calls_per_second.toFixed(0)} calls/s\n`);
        }
      }
    }
  }
}
for (const { child } of Object.values(servers)) {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}
rmSync(folder, { recursive: true, force: true });

const median = (list, of) => {
  const sorted = list.map(of).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
};
const number = (n) => (n >= 100 ? n.toFixed(0) : n.toPrecision(2));
const lines = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, @modelcontextprotocol/sdk 1.32.2, ` +
    `better-sqlite3 12.4.1, medians of ${rounds} interleaved rounds of ${seconds} s, a state of 4 KiB.`,
  "",
  "| transport | tool | in flight | satchel calls/s | p50 / p99 ms | peer calls/s | p50 / p99 ms | ratio |",
  "|---|---|---|---|---|---|---|---|",
];
for (const [key, ours] of results) {
  const [transport, tool, inFlight, who] = key.split(" ");
  if (who !== "satchel") continue;
  const theirs = results.get([transport, tool, inFlight, "peer"].join(" "));
  const row = (list) => [
    number(median(list, (r) => r.calls_per_second)),
    `${number(median(list, (r) => r.p50_ms))} / ${number(median(list, (r) => r.p99_ms))}`,
  ];
  const ratio = median(ours, (r) => r.calls_per_second) / median(theirs, (r) => r.calls_per_second);
  lines.push(`| ${[transport, tool, inFlight, ...row(ours), ...row(theirs), ratio.toFixed(1)].join(" | ")} |`);
}
const [begin, end] = ["<!-- serve: begin (made by bench/serve/run.mjs) -->", "<!-- serve: end -->"];
const text = readFileSync(readme, "utf8");
writeFileSync(readme, text.slice(0, text.indexOf(begin) + begin.length) + "\n" + lines.join("\n") + "\n" +
  text.slice(text.indexOf(end)));
console.log(lines.join("\n"));
