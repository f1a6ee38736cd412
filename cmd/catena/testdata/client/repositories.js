// The package on two repositories of one server. Arguments as of spine.js; the server has the
// repositories default and archive.
const assert = require('node:assert/strict');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

const missing = (e) => e.response.status === 404;
const client = (repositoryName) => new Nuxeo({ baseURL, repositoryName, auth: { method: 'basic', username, password } });

async function main() {
  const [here, there] = [client(), client('archive')];
  await Promise.all([here.connect(), there.connect()]);
  const [first, second] = [here, there].map((c) => c.repository({ schemas: ['dublincore'] }));
  const roots = await Promise.all([first.fetch('/'), second.fetch('/')]);
  assert.deepEqual(roots.map((d) => d.repository), ['default', 'archive']);
  assert.notEqual(roots[0].uid, roots[1].uid);
  const byOperation = await there.operation('Repository.GetDocument').param('value', '/').execute();
  assert.equal(byOperation.uid, roots[1].uid);

  const made = await second.create(roots[1].uid, {
    'entity-type': 'document', type: 'File', name: 'only-there', properties: { 'dc:title': 'Only there' },
  });
  assert.equal(made.repository, 'archive');
  assert.equal((await second.fetch(made.uid)).title, 'Only there');
  await assert.rejects(first.fetch(made.uid), missing);
  await assert.rejects(first.fetch(made.path), missing);

  made.set({ 'dc:title': 'Changed there' });
  const saved = await made.save();
  assert.deepEqual([saved.repository, saved.title], ['archive', 'Changed there']);
  const batch = there.batchUpload();
  const { blob } = await batch.upload(new Nuxeo.Blob({ content: Buffer.from('the file'), name: 'a.txt', mimeType: 'text/plain', size: 8 }));
  saved.set({ 'file:content': blob });
  const filled = await saved.save({ schemas: ['file'] });
  assert.equal(await (await filled.fetchBlob()).text(), 'the file');
  assert.equal((await second.query({ query: "SELECT * FROM File WHERE dc:title = 'Changed there'" })).entries.length, 1);
  assert.equal((await first.query({ query: "SELECT * FROM File WHERE dc:title = 'Changed there'" })).entries.length, 0);

  assert.equal((await second.delete(made.path)).status, 204);
  await assert.rejects(second.fetch(made.path), missing);
  await assert.rejects(client('nowhere').repository().fetch('/'), missing);
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
