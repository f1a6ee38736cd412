// Drives every tool for operations with an official client:
//   node automation.mjs ERA KEY ADDRESS | PROGRAM ARGUMENT...
import assert from 'node:assert/strict';
import { open } from './connect.mjs';

const [era, key, ...target] = process.argv.slice(2);
const client = await open(era, target, key);
const driven = new Set();

async function tool(name, args) {
  driven.add(name);
  return client.callTool({ name, arguments: args });
}

const { tools } = await client.listTools();
const found = await tool('search_operations', { query: 'document create', limit: 3 });
assert.equal(found.structuredContent.operations[0].name, 'Document.Create');
const about = await tool('describe_operation', { name: 'Document.Create' });
assert.equal(about.structuredContent.effect, 'writes');
const name = `driven-${era}-${target.length}`;
const make = { operation: 'Document.Create', input: '/default-domain/workspaces', params: { type: 'Workspace', name } };
const dry = await tool('run_operation', { ...make, dryRun: true });
assert.equal(dry.structuredContent.dryRun, true);
assert.ok(dry.structuredContent.changes.length > 0);
const made = await tool('run_operation', make);
assert.ok(!made.isError, JSON.stringify(made.content));
assert.equal(made.structuredContent.result.path, `/default-domain/workspaces/${name}`);
const none = await tool('run_operation', { operation: 'Document.GetChild', input: '/nowhere', params: { name: 'x' } });
assert.ok(none.isError);
assert.match(none.content[0].text, /^notfound: .*\/nowhere/);
const typo = await tool('run_operation', { operation: 'Document.Creat' });
assert.match(typo.content[0].text, /perhaps Document\.Create/);
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), (e) => e.code === -32602);
assert.deepEqual([...driven].sort(), tools.map((t) => t.name), 'every tool is driven');
await client.close();
