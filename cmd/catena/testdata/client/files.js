// Drives a running server's uploads, conversions and renditions with the npm package
// unchanged. Arguments: base address, user, password. Prints nothing and exits 0 when every
// expectation holds.
const assert = require('node:assert/strict');
const { createHash } = require('node:crypto');
const { Readable } = require('node:stream');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

function blobOf(name, mimeType, content) {
  const bytes = Buffer.from(content);
  return new Nuxeo.Blob({ content: Readable.from([bytes]), name, mimeType, size: bytes.length });
}

// uploads of the package: several at once, names of all kinds, one taken away again
async function uploads(nuxeo, repository, folder) {
  const names = ['plain.txt', 'café & co.txt', '漢字 #1?.txt'];
  const batch = nuxeo.batchUpload();
  const sent = await batch.upload(...names.map((name) => blobOf(name, 'text/plain', `content of ${name}`)));
  assert.equal(sent.blobs.length, 3);
  for (const blob of sent.blobs) {
    assert.equal(blob.uploaded, 'true');
  }
  const listed = await batch.fetchBlobs();
  assert.deepEqual(listed.blobs.map((b) => b.name).sort(), [...names].sort());
  assert.equal((await batch.fetchBlob(0)).blob.size, Buffer.byteLength('content of plain.txt'));
  await batch.removeBlob(0);
  await assert.rejects(batch.fetchBlob(0), (e) => e.response.status === 404);
  assert.equal((await batch.fetchBlobs()).blobs.length, 2);

  const doc = await repository.create(folder.path, {
    'entity-type': 'document', type: 'File', name: 'uploaded', properties: { 'dc:title': 'Uploaded', 'file:content': sent.blobs[1] },
  });
  assert.equal(doc.get('file:content').name, names[1]);
  assert.equal(await (await doc.fetchBlob()).text(), `content of ${names[1]}`);
  await assert.rejects(batch.fetchBlobs(), (e) => e.response.status === 404); // used, and gone

  const other = nuxeo.batchUpload();
  await other.upload(blobOf('import.txt', 'text/plain', 'import me'));
  const made = await nuxeo.operation('FileManager.Import').context({ currentDocument: folder.path }).input(other).execute();
  assert.equal(made.entries[0].title, 'import.txt');

  const gone = nuxeo.batchUpload();
  await gone.upload(blobOf('x', 'text/plain', 'x'));
  await gone.cancel();
  return doc;
}

// a large file in chunks, as uploads that can be resumed are sent
async function chunks(nuxeo, repository, folder) {
  const size = 1 << 20;
  const content = Buffer.alloc(5 * size + 77, 'resumable ');
  const count = Math.ceil(content.length / size);
  const headers = { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const at = `${baseURL}api/v1/upload`;
  const { batchId } = await (await fetch(`${at}/`, { method: 'POST', headers })).json();
  for (const i of [3, 0, 5, 1, 4, 2]) {
    const answer = await fetch(`${at}/${batchId}/0`, {
      method: 'POST',
      body: content.subarray(i * size, (i + 1) * size),
      headers: {
        ...headers, 'X-File-Name': encodeURIComponent('größe.bin'), 'X-File-Size': content.length, 'X-Upload-Type': 'chunked',
        'X-Upload-Chunk-Index': i, 'X-Upload-Chunk-Count': count,
      },
    });
    assert.equal(answer.status, i === 2 ? 201 : 202);
  }
  const doc = await repository.create(folder.path, {
    'entity-type': 'document', type: 'File', name: 'big',
    properties: { 'file:content': { 'upload-batch': batchId, 'upload-fileId': '0' } },
  });
  assert.equal(doc.get('file:content').name, 'größe.bin');
  assert.equal(doc.get('file:content').length, String(content.length));
  const back = Buffer.from(await (await doc.fetchBlob()).arrayBuffer());
  assert.equal(createHash('sha256').update(back).digest('hex'), createHash('sha256').update(content).digest('hex'));
}

async function conversions(doc) {
  for (const how of [{ format: 'html' }, { type: 'text/html' }, { converter: 'office2html' }]) {
    const html = await (await doc.convert(how)).text();
    assert.match(html, /<html/);
    assert.match(html, /content of caf/);
  }
  await assert.rejects(doc.convert({ converter: 'nothing' }), (e) => e.response.status === 400);
  const scheduled = await doc.scheduleConversion({ format: 'html' });
  assert.equal(scheduled['entity-type'], 'conversionScheduled');
  const headers = { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  for (let status = ''; status !== 'completed';) {
    ({ status } = await (await fetch(scheduled.pollingURL, { headers })).json());
  }
  assert.match(await (await fetch(scheduled.resultURL, { headers })).text(), /content of caf/);
}

async function renditions(repository, doc, folder) {
  const thumbnail = await doc.fetchRendition('thumbnail');
  assert.match(thumbnail.headers.get('content-type'), /^image\//);
  const pdf = Buffer.from(await (await doc.fetchRendition('pdf')).arrayBuffer());
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  const names = async (d) => (await d.fetchRenditions()).map((r) => r.name);
  assert.deepEqual(await names(doc), ['thumbnail', 'pdf', 'xmlExport', 'zipExport']);
  assert.deepEqual(await names(folder), ['thumbnail', 'xmlExport', 'zipTreeExport']);
  await assert.rejects(doc.fetchRendition('nothing'));
  const xml = await (await doc.fetchRendition('xmlExport')).text();
  assert.ok(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>'));
  assert.ok(xml.includes(`<path>${doc.path.slice(1)}</path>`));
  for (const [d, name] of [[doc, 'zipExport'], [folder, 'zipTreeExport']]) {
    const zip = Buffer.from(await (await d.fetchRendition(name)).arrayBuffer());
    assert.equal(zip.subarray(0, 2).toString(), 'PK');
  }
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });
  const repository = nuxeo.repository({ schemas: ['*'] });
  const folder = await repository.create('/default-domain/workspaces', {
    'entity-type': 'document', type: 'Folder', name: 'files', properties: { 'dc:title': 'Files' },
  });
  const doc = await uploads(nuxeo, repository, folder);
  await chunks(nuxeo, repository, folder);
  await conversions(doc);
  await renditions(repository, doc, folder);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
