// Drives a running server with the npm package unchanged. Arguments: base address,
// user, password. Prints nothing and exits 0 when every expectation holds.
const assert = require('node:assert/strict');
const { Readable } = require('node:stream');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

async function text(response) {
  return response.text();
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });

  // connect: signs in, reads the user and the server's version
  const connected = await nuxeo.connect();
  assert.equal(connected.connected, true);
  assert.equal(connected.user.id, username);
  assert.match(connected.nuxeoVersion ?? String(connected.serverVersion), /^\d+\.\d+/);

  const wrong = new Nuxeo({ baseURL, auth: { method: 'basic', username, password: 'not it' } });
  await assert.rejects(wrong.connect(), (e) => e.response.status === 401);

  // create
  const repository = nuxeo.repository({ schemas: ['*'] });
  const workspaces = '/default-domain/workspaces';
  const folder = await repository.create(workspaces, {
    'entity-type': 'document', type: 'Folder', name: 'client', properties: { 'dc:title': 'Client' },
  });
  assert.equal(folder.path, `${workspaces}/client`);
  assert.equal(folder.title, 'Client');
  assert.equal(folder.get('dc:description'), null);

  const odd = 'a @ [b]; # ? = + & 漢字';
  const file = await repository.create(folder.path, {
    'entity-type': 'document', type: 'File', name: odd, properties: { 'dc:title': 'Odd' },
  });
  assert.equal(file.path, `${folder.path}/${odd}`);
  assert.equal((await repository.fetch(file.path)).uid, file.uid);

  // update
  file.set({ 'dc:title': 'Odd no more', 'dc:subjects': ['art', 'music'] });
  const saved = await file.save();
  assert.equal(saved.title, 'Odd no more');
  assert.deepEqual(saved.get('dc:subjects'), ['art', 'music']);

  // query
  const found = await repository.query({ query: `SELECT * FROM Document WHERE ecm:parentId = '${folder.uid}' AND dc:title LIKE 'Odd%'` });
  assert.equal(found.entries.length, 1);
  assert.equal(found.entries[0].uid, file.uid);
  assert.equal(found.isNextPageAvailable, false);

  // an operation with a document as input
  const child = await nuxeo.operation('Document.GetChild').input(folder.path).params({ name: odd }).execute();
  assert.equal(child.uid, file.uid);

  // an operation with a blob as input, and its answer back
  const content = 'Hello, Wörld';
  const blob = new Nuxeo.Blob({
    content: Readable.from([Buffer.from(content)]), name: 'café.txt', mimeType: 'text/plain', size: Buffer.byteLength(content),
  });
  await nuxeo.operation('Blob.AttachOnDocument').param('document', file.uid).input(blob).execute();
  const withFile = await repository.fetch(file.uid);
  assert.equal(withFile.get('file:content').name, 'café.txt');
  assert.equal(withFile.get('file:content').length, String(Buffer.byteLength(content)));
  const back = await nuxeo.operation('Document.GetBlob').input(file.uid).execute();
  assert.equal(await text(back), content);
  assert.equal(await text(await withFile.fetchBlob()), content);

  // a chain, deployed over the same interface
  await nuxeo.operation('Chain.Save').params({
    source: 'name: Client.Describe\ninput: document\noutput: document\nparams:\n  - {name: text, type: string, required: true}\nsteps:\n  - op: Document.SetProperty\n    params: {xpath: "dc:description", value: "@{text} of @{Document.title}"}\n',
  }).execute();
  const described = await nuxeo.operation('Client.Describe').input(file.path).params({ text: 'A tale' }).execute({ schemas: ['dublincore'] });
  assert.equal(described.get('dc:description'), 'A tale of Odd no more');

  // errors keep their status, and nothing of a failed call stays
  await assert.rejects(
    nuxeo.operation('Document.GetChild').input(folder.path).params({ name: 'nobody' }).execute(),
    (e) => e.response.status === 404,
  );
  await assert.rejects(
    nuxeo.operation('Document.Update').input(file.path).params({ properties: { 'dc:title': 'Half' }, changeToken: '0-99' }).execute(),
    (e) => e.response.status === 409,
  );
  assert.equal((await repository.fetch(file.path)).title, 'Odd no more');

  // delete
  await repository.delete(folder.path);
  await assert.rejects(repository.fetch(file.uid), (e) => e.response.status === 404);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
