// Runs the clients that others wrote against engramd: the official TypeScript SDK
// and the MCP inspector's CLI, each over stdio and HTTP, and the steps of the
// reference memory server against that server and against engramd.
//
//   node suite.mjs ENGRAMD
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const engramd = resolve(process.argv[2]);
const here = dirname(fileURLToPath(import.meta.url));
const modules = (name) => join(here, "node_modules", name);
const base = mkdtempSync(join(tmpdir(), "engram-mcp-"));
let checks = 0;

// calls are one of each tool, in an order in which they work, and a part of what
// each has to say.
const calls = [
  ["begin_session", { about: "pumps" }, "Conversation: "],
  ["remember", { content: "The pump leaks", id: "pump", tags: ["house"] }, "Remembered as [pump]"],
  ["remember", { content: "The floor is wet", id: "floor", alone: true }, "Remembered as [floor]"],
  ["remember", { content: "The floor is dry again", id: "dry", alone: true }, "Remembered as [dry]"],
  ["link", { from: "pump", to: "floor", type: "ABOUT", weight: 0.5 }, "[pump] -ABOUT-> [floor] is made"],
  ["link_causal", { cause: "pump", effect: "floor", strength: 0.9 }, "[pump] -CAUSES-> [floor] is made"],
  ["recall", { query: "what leaks?", limit: 3 }, "[pump] The pump leaks"],
  ["inspect", { id: "pump", query: "leaks" }, "-> CAUSES [floor]"],
  ["query", { statement: "MATCH (m:Memory) RETURN count(m) AS n" }, "n\n3"],
  ["search", { query: "pump" }, '"id":"pump"'],
  ["fetch", { id: "pump" }, '"text":"The pump leaks"'],
  ["compile_context", { intent: "pump", budget: 200 }, "The pump leaks"],
  ["restructure_causal", {}, "nothing was changed"],
  ["plan_work", { title: "Mend the pump", priority: 1, concerns: ["pump"] }, "Planned ["],
  ["review_backlog", {}, "Mend the pump (open, most urgent)"],
  ["consolidate", { dry_run: true }, "would be promoted"],
  ["structural_audit", {}, "orphans_and_dangling"],
  ["supersede", { old: "floor", new: "dry" }, "[dry] takes the place of [floor]"],
  ["forget", { id: "pump", because: "mended" }, "[pump] is forgotten"],
];

const texts = (result) => result.content.map((c) => c.text).join("");

async function connect(transport) {
  const client = new Client({ name: "suite", version: "1" });
  await client.connect(transport);
  return client;
}

const stdio = (command, args, env = {}) =>
  connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: "inherit" }));

// sdk lists and calls every tool. The SDK itself checks what comes back against
// the tools' output schemas.
async function sdk(what, client) {
  const { tools } = await client.listTools();
  const called = new Set(calls.map(([name]) => name));
  assert.deepEqual(tools.map((t) => t.name).sort(), [...called].sort(), `${what}: tools`);
  for (const [name, args, says] of calls) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError && texts(result).includes(says), `${what}: ${name} says ${texts(result)}`);
    checks++;
  }
  const wrong = await client.callTool({ name: "recall", arguments: { qeury: "x" } });
  assert.ok(wrong.isError && texts(wrong).includes("there is no argument qeury"), texts(wrong));
  const schema = await client.readResource({ uri: "engram://schema" });
  assert.ok(schema.contents[0].text.includes("- Memory: "), schema.contents[0].text);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.length > 0);
  await client.close();
}

// inspect runs the inspector's CLI, which looks for its package.json from where it
// is started.
async function inspect(target, ...args) {
  const cli = modules("@modelcontextprotocol/inspector-cli/build/cli.js");
  const { stdout } = await promisify(execFile)(process.execPath, [cli, "--cli", ...target, ...args], { maxBuffer: 1 << 24, cwd: dirname(cli) });
  return JSON.parse(stdout);
}

async function inspector(what, target) {
  const { tools } = await inspect(target, "--method", "tools/list");
  assert.deepEqual(tools.map((t) => t.name).sort(), [...new Set(calls.map(([name]) => name))].sort(), `${what}: tools`);
  for (const [name, args, says] of calls) {
    const pairs = Object.entries(args).flatMap(([k, v]) => ["--tool-arg", `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`]);
    const result = await inspect(target, "--method", "tools/call", "--tool-name", name, ...pairs);
    assert.ok(!result.isError && texts(result).includes(says), `${what}: ${name} says ${texts(result)}`);
    checks++;
  }
}

// served runs engramd serve while fn runs.
async function served(fn) {
  const data = join(base, "served");
  const server = spawn(engramd, ["--data", data, "serve", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    let told = "";
    for await (const chunk of server.stdout) {
      told += chunk;
      if (told.includes("The token is in")) break;
    }
    const url = /http:\/\/\S+/.exec(told)[0];
    await fn(url + "/mcp", `Bearer ${readFileSync(join(data, "token"), "utf8").trim()}`);
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

// memory runs the steps of the reference server's behaviour.
async function memory(what, client) {
  const steps = JSON.parse(readFileSync(join(here, "../../server/mcp/testdata/memory.json"), "utf8"));
  await client.listTools();
  for (const step of steps) {
    const result = await client.callTool({ name: step.tool, arguments: step.args });
    const about = `${what}: ${step.about}: ${texts(result)}`;
    checks++;
    if ("error" in step) {
      assert.ok(result.isError && (step.error === "" || texts(result) === step.error), about);
      continue;
    }
    assert.ok(!result.isError, about);
    assert.deepEqual(result.structuredContent, step.structured, about);
    const text = !step.textOf ? step.text : JSON.stringify(step.textOf === "." ? step.structured : step.structured[step.textOf], null, 2);
    assert.equal(texts(result), text, about);
  }
  await client.close();
}

// together has two clients on one directory at once, each of which starts its server
// twice, as some clients do; the second time the other one goes in the middle.
async function together() {
  const data = join(base, "together");
  for (const round of [1, 2]) {
    const clients = await Promise.all([0, 1].map(() => stdio(engramd, ["--data", data, "mcp"])));
    await Promise.all(clients.map(async (client, c) => {
      for (let i = 0; i < (round === 2 && c === 0 ? 10 : 20); i++) {
        const result = await client.callTool({ name: "remember", arguments: { content: `client ${c} says ${i} in round ${round}`, alone: true } });
        assert.ok(!result.isError, texts(result));
      }
      if (round === 2 && c === 0) await client.close(); // it may be the one that owns the directory
    }));
    const all = round === 1 ? 40 : 70;
    for (const client of round === 1 ? clients : [clients[1]]) {
      const result = await client.callTool({ name: "query", arguments: { statement: "MATCH (m:Memory) RETURN count(DISTINCT m.content), count(m)" } });
      assert.deepEqual(result.structuredContent.rows, [[all, all]]);
      checks++;
      await client.close();
    }
  }
  const { stdout } = await promisify(execFile)(engramd, ["--data", data, "check"]);
  assert.ok(!/problem/i.test(stdout) || /no problems/i.test(stdout), stdout);
}

try {
  await memory("reference server", await stdio(process.execPath, [modules("@modelcontextprotocol/server-memory/dist/index.js")], { MEMORY_FILE_PATH: join(base, "memory.jsonl") }));
  await memory("engramd --compat memory", await stdio(engramd, ["--data", join(base, "compat"), "mcp", "--compat", "memory"]));
  await sdk("SDK over stdio", await stdio(engramd, ["--data", join(base, "sdk"), "mcp", "--tools", "all"]));
  await inspector("inspector over stdio", [engramd, "--data", join(base, "inspector"), "mcp", "--tools", "all"]);
  await served(async (url, authorization) => {
    const transport = new StreamableHTTPClientTransport(new URL(url + "?tools=all"), { requestInit: { headers: { authorization } } });
    await sdk("SDK over HTTP", await connect(transport));
    const reference = new StreamableHTTPClientTransport(new URL(url + "?compat=memory"), { requestInit: { headers: { authorization } } });
    const compat = await connect(reference);
    assert.equal((await compat.listTools()).tools.length, 9);
    await compat.close();
  });
  rmSync(join(base, "served"), { recursive: true });
  await served(async (url, authorization) =>
    memory("engramd --compat memory over HTTP", await connect(new StreamableHTTPClientTransport(new URL(url + "?compat=memory"), { requestInit: { headers: { authorization } } }))));
  rmSync(join(base, "served"), { recursive: true });
  await served((url, authorization) =>
    inspector("inspector over HTTP", [url + "?tools=all", "--transport", "http", "--header", `Authorization: ${authorization}`]));
  await together();
  console.log(`mcp: ${checks} checks of the SDK ${createRequire(import.meta.url)("./package.json").dependencies["@modelcontextprotocol/sdk"]}, the inspector and the reference memory server hold`);
} finally {
  rmSync(base, { recursive: true, force: true });
}
