// What the package's documents, operations and uploads can do, unchanged: moves, transitions,
// locks, permissions, lists as inputs, names of all alphabets. Arguments as of spine.js.
const assert = require('node:assert/strict');
const { Readable } = require('node:stream');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

const status = (wanted) => (e) => e.response.status === wanted;
const create = (repository, parent, type, name) => repository.create(parent, {
  'entity-type': 'document', type, name, properties: { 'dc:title': name },
});

function textBlob(name) {
  const bytes = Buffer.from(`content of ${name}`);
  return new Nuxeo.Blob({ content: Readable.from([bytes]), name, mimeType: 'text/plain', size: bytes.length });
}

async function kinds(repository, folder, file) {
  assert.equal(folder.isFolder(), true);
  assert.equal(file.isFolder(), false);
  assert.equal(file.hasFacet('Versionable'), true);
  assert.equal(file.isCollection(), false);
  assert.equal(file.isCollectable(), true);
  assert.equal((await repository.fetch('/default-domain')).isCollectable(), false);
}

async function lives(repository, folder, file) {
  const other = await create(repository, folder.path, 'Folder', 'other');
  const moved = await file.move(other.path, 'moved', { schemas: ['*'] });
  assert.equal(moved.path, `${other.path}/moved`);
  assert.equal((await moved.move(folder.uid)).path, `${folder.path}/moved`);
  await assert.rejects(file.move('/nowhere'), status(404));
  assert.equal((await file.followTransition('approve')).state, 'approved');
  await assert.rejects(file.followTransition('approve'));
  assert.equal((await file.followTransition('backToProject')).state, 'project');

  assert.deepEqual(await file.fetchLockStatus(), { lockOwner: undefined, lockCreated: undefined });
  await file.lock();
  await file.lock();
  const lock = await file.fetchLockStatus();
  assert.equal(lock.lockOwner, username);
  assert.match(lock.lockCreated, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  await file.unlock();
  assert.equal((await file.fetchLockStatus()).lockOwner, undefined);
}

async function permissions(nuxeo, repository, file) {
  await nuxeo.users().create({ 'entity-type': 'user', properties: { username: 'zoë', password: 'three', groups: ['members'] } });
  const zoe = new Nuxeo({ baseURL, auth: { method: 'basic', username: 'zoë', password: 'three' } });
  assert.equal((await zoe.connect()).user.id, 'zoë');
  const hers = await zoe.repository().fetch(file.uid);
  assert.equal(await hers.hasPermission('Write'), false);
  await assert.rejects(hers.set({ 'dc:title': 'Hers' }).save(), status(403));
  await file.addPermission({ permission: 'Write', username: 'zoë' });
  const acls = await (await repository.fetch(file.uid)).fetchACLs();
  assert.equal(acls[0].name, 'local');
  assert.deepEqual(acls[0].aces.map((a) => [a.username, a.permission, a.granted, a.creator]), [['zoë', 'Write', true, username]]);
  const again = await zoe.repository().fetch(file.uid);
  assert.equal(await again.hasPermission('Write'), true);
  assert.equal((await again.set({ 'dc:title': 'Hers' }).save()).title, 'Hers');
  await file.removePermission({ id: acls[0].aces[0].id, acl: 'local' });
  await assert.rejects(again.set({ 'dc:title': 'No more' }).save(), status(403));
  await nuxeo.users().delete('zoë');
}

async function inputs(nuxeo, repository, folder, file) {
  const both = await nuxeo.operation('Document.Update').input([folder, file]).params({ properties: 'dc:source=lists' })
    .execute({ schemas: ['dublincore'] });
  assert.deepEqual(both.entries.map((d) => d.get('dc:source')), ['lists', 'lists']);
  const refs = await nuxeo.operation('Document.Update').input([folder.path, file.uid])
    .param('properties', { 'dc:source': 'objects' }).execute({ schemas: ['dublincore'] });
  assert.deepEqual(refs.entries.map((d) => d.get('dc:source')), ['objects', 'objects']);
  const blank = { 'entity-type': 'document', type: 'File', name: 'unsaved', properties: { 'dc:title': 'Unsaved' } };
  assert.equal((await nuxeo.operation('Document.Update').input(file).params({ properties: { 'dc:source': null } })
    .execute({ schemas: ['*'] })).get('dc:source'), null);
  const draft = await nuxeo.operation('Document.SetProperty').input(blank)
    .params({ xpath: 'dc:description', value: 'described', save: false }).execute({ schemas: ['dublincore'] });
  assert.equal(draft.title, 'Unsaved');
  assert.equal(draft.get('dc:description'), 'described');
  assert.equal((await repository.query({ query: "SELECT * FROM Document WHERE dc:title = 'Unsaved'" })).entries.length, 0);

  await nuxeo.operation('Blob.AttachOnDocument').input([textBlob('one.txt'), textBlob('zwei ß.txt')])
    .params({ document: file.uid, xpath: 'files:files' }).execute({ headers: { 'X-NXVoidOperation': 'true' } });
  const blobs = await nuxeo.operation('Document.GetBlobs').input(file.uid).execute();
  assert.match(blobs.headers.get('content-type'), /^multipart\/mixed/);
  const parts = await blobs.text();
  assert.ok(parts.includes('content of one.txt') && parts.includes('content of zwei ß.txt'));
  assert.equal(await (await file.fetchBlob('files:files/1/file')).text(), 'content of zwei ß.txt');
  await assert.rejects(file.fetchBlob('blobholder:07'), status(404));

  const batch = nuxeo.batchUpload({ concurrency: 2 });
  const sending = batch.upload([textBlob('a.txt'), [textBlob('b.txt')]]);
  assert.equal(batch.isFinished(), false);
  const sent = await batch.done();
  assert.equal(batch.isFinished(), true);
  assert.deepEqual(sent.blobs, (await sending).blobs);
  await nuxeo.operation('Blob.AttachOnDocument').input(sent.blobs[1]).params({ document: file.uid })
    .execute({ headers: { 'X-NXVoidOperation': 'true', 'X-Batch-No-Drop': 'true' } });
  assert.equal(await (await file.fetchBlob()).text(), 'content of b.txt');
  assert.equal((await batch.fetchBlobs()).blobs.length, 2);
  const by = (name, params) => nuxeo.operation(name).input(file.uid).params(params).execute({ schemas: ['*'] });
  const kept = { 'upload-batch': sent.blobs[0]['upload-batch'], 'upload-fileId': '0' };
  const updated = await by('Document.Update', { properties: { 'file:content': kept } });
  assert.equal(updated.get('file:content').name, 'a.txt');
}

async function names(nuxeo, repository, folder) {
  for (const name of ['é ü ß', '漢字', 'a;b', '100% & more', "it's", 'q?=#', 'plus+', '[x]', 'not @ first', 'ΑΒΓ', '🎈']) {
    const doc = await create(repository, folder.path, 'File', name);
    assert.equal(doc.path, `${folder.path}/${name}`);
    assert.equal((await repository.fetch(doc.path)).uid, doc.uid);
    const child = await nuxeo.operation('Document.GetChild').input(folder.path).params({ name }).execute();
    assert.equal(child.uid, doc.uid);
    const found = await repository.query({ query: 'SELECT * FROM Document WHERE ecm:name = ?', queryParams: name });
    assert.deepEqual(found.entries.map((d) => d.uid), [doc.uid], name);
  }
  await nuxeo.groups().create({ 'entity-type': 'group', groupname: 'größe/漢字 &', grouplabel: 'ß' });
  assert.equal((await nuxeo.groups().fetch('größe/漢字 &')).grouplabel, 'ß');
  const group = await nuxeo.groups().fetch('größe/漢字 &');
  group.grouplabel = '二';
  assert.equal((await group.save()).grouplabel, '二');
  await nuxeo.groups().delete('größe/漢字 &');
}

async function pages(repository, folder) {
  const at = (currentPageIndex) => repository.query({
    query: `SELECT * FROM Document WHERE ecm:parentId = '${folder.uid}' ORDER BY ecm:name`, pageSize: 5, currentPageIndex,
  });
  const [first, second] = [await at(0), await at(1)];
  assert.equal(first.entries.length, 5);
  assert.equal(first.isNextPageAvailable, true);
  assert.equal(second.currentPageIndex, 1);
  assert.equal(first.resultsCount, second.resultsCount);
  assert.equal(new Set([...first.entries, ...second.entries].map((d) => d.uid)).size, 10);
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });
  const repository = nuxeo.repository({ schemas: ['*'] });
  const folder = await create(repository, '/default-domain/workspaces', 'Folder', 'documents');
  const file = await create(repository, folder.path, 'File', 'file');
  await kinds(repository, folder, file);
  await lives(repository, folder, file);
  await permissions(nuxeo, repository, file);
  await inputs(nuxeo, repository, folder, file);
  await names(nuxeo, repository, folder);
  await pages(repository, folder);
  await repository.delete(folder.path);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
