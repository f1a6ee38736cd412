// Drives versions, comments, tags, collections, trash, audit and searches of a running server
// with the npm package unchanged. Arguments: base address, user, password. Prints nothing and
// exits 0 when every expectation holds.
const assert = require('node:assert/strict');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

async function versions(repository, file) {
  file.set({ 'dc:description': 'first' });
  const first = await file.save({ headers: { 'X-Versioning-Option': 'MINOR' } });
  assert.equal(first.isVersion, true);
  const live = await repository.fetch(file.uid, { fetchProperties: { document: ['versionLabel'] } });
  assert.equal(live.versionLabel, '0.1');
  assert.equal(live.isCheckedOut, false);
  return first;
}

async function comments(nuxeo, file) {
  const said = await nuxeo.request(`id/${file.uid}/@comment`).post({ body: { 'entity-type': 'comment', parentId: file.uid, text: 'fine' } });
  assert.equal(said.author, username);
  await nuxeo.request(`id/${said.id}/@comment`).post({ body: { 'entity-type': 'comment', parentId: said.id, text: 'indeed' } });
  const list = await nuxeo.request(`id/${file.uid}/@comment`).queryParams({ 'fetch.comment': 'repliesSummary' }).get();
  assert.equal(list.totalSize, 1);
  assert.equal(list.entries[0].numberOfReplies, 1);
  await nuxeo.request(`id/${file.uid}/@comment/${said.id}`).delete();
  assert.equal((await nuxeo.request(`id/${file.uid}/@comment`).get()).totalSize, 0);
}

async function gathered(nuxeo, repository, file) {
  await nuxeo.operation('Services.TagDocument').input(file.uid).params({ tags: 'Blue,green' }).execute();
  const list = await nuxeo.operation('Collection.Create').params({ name: 'best' }).execute();
  await nuxeo.operation('Document.AddToCollection').input(file.uid).params({ collection: list.uid }).execute();
  await nuxeo.operation('Document.AddToFavorites').input(file.uid).execute();
  const doc = await repository.fetch(file.uid, { enrichers: { document: ['tags', 'favorites', 'collections'] } });
  assert.deepEqual(doc.contextParameters.tags, ['blue', 'green']);
  assert.equal(doc.contextParameters.favorites.isFavorite, true);
  assert.deepEqual(doc.contextParameters.collections.map((c) => c.uid), [list.uid]);
  const tagged = await repository.query({ query: "SELECT * FROM Document WHERE ecm:tag = 'blue'" });
  assert.deepEqual(tagged.entries.map((d) => d.uid), [file.uid]);
}

async function searched(nuxeo, repository, file) {
  const found = await repository.query({ query: "SELECT * FROM Document WHERE ecm:fulltext = 'horse' AND ecm:isVersion = 0" });
  assert.deepEqual(found.entries.map((d) => d.uid), [file.uid]);
  const page = await repository.query({ pageProvider: 'default_search', dc_title: 'Wild horses', dc_creator_agg: JSON.stringify([username]) });
  assert.equal(page.entries.length, 1);
  assert.deepEqual(page.aggregations.dc_creator_agg.selection, [username]);
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });
  const repository = nuxeo.repository({ schemas: ['*'] });
  const file = await repository.create('/default-domain/workspaces', {
    'entity-type': 'document', type: 'File', name: 'horses', properties: { 'dc:title': 'Wild horses' },
  });
  await versions(repository, file);
  await comments(nuxeo, file);
  await gathered(nuxeo, repository, file);
  await searched(nuxeo, repository, file);
  const live = await repository.fetch(file.uid);
  const audit = await live.fetchAudit();
  assert.equal(audit['entity-type'], 'logEntries');
  assert.ok(audit.entries.some((e) => e.eventId === 'documentCreated'));
  assert.equal((await nuxeo.operation('Document.Trash').input(live.uid).execute()).isTrashed, true);
  assert.equal((await nuxeo.operation('Document.Untrash').input(live.uid).execute()).isTrashed, false);
  await repository.delete(file.uid);
  await assert.rejects(repository.fetch(file.uid), (e) => e.response.status === 404);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
