// Drives every tool, resource and prompt for decks with an official client:
//   node decks.mjs ERA KEY ADDRESS | PROGRAM ARGUMENT...
import assert from 'node:assert/strict';
import { open, protocol } from './connect.mjs';

const [era, key, ...target] = process.argv.slice(2);
const client = await open(era, target, key);
const driven = new Set();

async function tool(name, args = {}, options = {}) {
  driven.add(name);
  const more = era === 'first' ? [undefined, options] : [options];
  const res = await client.callTool({ name, arguments: args }, ...more);
  assert.ok(!res.isError, `${name}: ${JSON.stringify(res.content)}`);
  assert.deepEqual(JSON.parse(res.content[0].text), res.structuredContent, `${name}: text and structured content differ`);
  return res.structuredContent;
}

async function refused(name, args, pattern) {
  const res = await client.callTool({ name, arguments: args });
  assert.ok(res.isError, `${name} ${JSON.stringify(args)}: was carried out`);
  assert.match(res.content[0].text, pattern);
}

async function fails(promise, code) {
  await assert.rejects(promise, (e) => e.code === code || assert.fail(`code ${e.code}, want ${code}: ${e.message}`));
}

if (era === 'modern' || era === 'auto') assert.equal(protocol(client), '2026-07-28');
const tools = (await client.listTools()).tools;
for (const t of tools) {
  assert.equal(t.inputSchema.additionalProperties, false, t.name);
  for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
    assert.equal(typeof t.annotations[hint], 'boolean', `${t.name}: ${hint}`);
  }
}

const user = await tool('get_user');
assert.equal(user.team.role, 'owner');
const made = await tool('create_deck', {
  title: `Driven ${era}`, description: 'by a client', width: 800, height: 600, visibility: 'self',
  data: '<section><h1>One</h1></section><section>Two<aside class="notes">say it</aside></section>',
});
assert.equal(made.slide_count, 2);
assert.equal(made.notes, 'say it');
assert.deepEqual(await tool('get_deck', { id: made.id }), made);
const listed = await tool('list_decks', { per_page: 1 });
assert.deepEqual(listed.data.map((d) => d.id), [made.id]);
assert.equal((await tool('update_deck', { id: made.id, title: 'Changed' })).title, 'Changed');

const link = await tool('create_share_link', { deck_id: made.id, name: 'L', password: 'pass word', notify_on_view: true });
assert.ok(link.password_protected && !('password' in link));
assert.deepEqual((await tool('list_share_links', { deck_id: made.id })).data.map((l) => l.id), [link.id]);
assert.equal((await tool('revoke_share_link', { deck_id: made.id, id: link.id })).revoked, true);

const heard = [];
const pending = await tool('create_export', { deck_id: made.id, format: 'zip' });
const done = await tool('get_export', { deck_id: made.id, id: pending.id, wait_seconds: 20 }, { onprogress: (p) => heard.push(p) });
assert.equal(done.status, 'completed');
const waited = await tool('create_export', { deck_id: made.id, format: 'zip', wait_seconds: 20 }, { onprogress: (p) => heard.push(p) });
assert.equal(waited.status, 'completed');
assert.match(heard[0]?.message ?? 'nothing heard', /^export \d+: /);
assert.equal((await fetch((await tool('get_export', { deck_id: made.id, id: done.id })).download_url)).status, 200);

const added = await tool('insert_slide', { id: made.id, html: '<section><h2 onclick="x()">Three</h2></section>', after: 1 });
assert.deepEqual([added.number, added.slide_count, added.html], [2, 3, '<section><h2>Three</h2></section>']);
const slides = await tool('list_slides', { id: made.id });
assert.deepEqual(slides.data.map((s) => s.title), ['One', 'Three', 'Two']);
const second = await tool('update_slide', { id: made.id, slide: 2, html: added.html.replace('Three', 'Four'), if_match: slides.meta.etag });
assert.deepEqual(await tool('get_slide', { id: made.id, slide: 2 }), second);
await refused('update_slide', { id: made.id, slide: 2, html: '<section>late</section>', if_match: slides.meta.etag }, /^precondition_failed/);
assert.equal((await tool('move_slide', { id: made.id, slide: 2, after: 1, below: true })).row, 2);
assert.equal((await tool('remove_slide', { id: made.id, slide: 2, if_match: '*' })).slide_count, 2);
await refused('get_slide', { id: made.id, slide: 3 }, /^notfound: slide 3/);

const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const sent = await tool('add_deck_file', { id: made.id, name: 'sent.png', data: picture.toString('base64') });
assert.equal(sent.address, 'files/1/sent.png');
await refused('add_deck_file', { id: made.id, data: 'cGxhaW4=' }, /^no_picture/);
const form = new FormData();
form.append('file', new Blob([picture], { type: 'image/png' }), 'dot.png');
const files = new URL(`/v1/decks/${made.id}/files`, done.download_url);
assert.equal((await fetch(files, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form })).status, 201);
assert.deepEqual((await tool('list_deck_files', { id: made.id })).data.map((f) => f.name), ['sent.png']); // the same picture is kept once

await tool('update_deck', { id: made.id, visibility: 'team' });
assert.ok((await tool('list_team_decks', { per_page: 100 })).data.some((d) => d.id === made.id && d.visibility === 'team'));
assert.equal((await tool('get_team_deck', { id: made.id })).owner.username, user.username);
assert.deepEqual(await tool('trash_deck', { id: made.id }), { id: made.id, trashed: true });
assert.ok((await tool('list_trashed_decks')).data.some((d) => d.id === made.id));
assert.deepEqual(await tool('recover_deck', { id: made.id }), { id: made.id, trashed: false });

await refused('get_deck', { id: 99999 }, /^notfound: deck 99999/);
await refused('create_deck', { data: '<p>x</p>' }, /^invalid_html: .*line 1, column 1/);
await refused('create_export', { deck_id: made.id, format: 'ppt' }, /^invalid_value: format/);
await fails(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602);

const { resources } = await client.listResources();
const guide = await client.readResource({ uri: resources[0].uri });
assert.match(guide.contents[0].text, /section/);
const { resourceTemplates } = await client.listResourceTemplates();
assert.deepEqual(resourceTemplates.map((r) => r.uriTemplate), ['deck://{id}']);
const html = await client.readResource({ uri: `deck://${made.id}` });
assert.equal(html.contents[0].mimeType, 'text/html');
assert.match(html.contents[0].text, /<h1>One<\/h1>/);
await fails(client.readResource({ uri: 'deck://99999' }), era === 'first' ? -32002 : -32602);
const { prompts } = await client.listPrompts();
assert.deepEqual(prompts.map((p) => p.name), ['outline_to_deck', 'review_deck']);
const prompt = await client.getPrompt({ name: 'outline_to_deck', arguments: { outline: 'a, b' } });
assert.match(prompt.messages[0].content.text, /a, b/);
await fails(client.getPrompt({ name: 'no_such_prompt' }), -32602);

const complete = async (ref, value) => (await client.complete({ ref, argument: { name: 'id', value } })).completion.values;
assert.deepEqual(await complete({ type: 'ref/prompt', name: 'review_deck' }, ''), [String(made.id)]);
assert.deepEqual(await complete({ type: 'ref/resource', uri: 'deck://{id}' }, 'chang'), [String(made.id)]);
assert.deepEqual(await complete({ type: 'ref/resource', uri: 'deck://{id}' }, 'no such title'), []);
await fails(client.complete({ ref: { type: 'ref/prompt', name: 'no_such_prompt' }, argument: { name: 'id', value: '' } }), -32602);

assert.deepEqual([...driven].sort(), tools.map((t) => t.name), 'every tool is driven');
await client.close();
