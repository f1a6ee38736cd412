// Users, groups and directories with the npm package unchanged. Arguments as of spine.js.
const assert = require('node:assert/strict');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);

const status = (wanted) => (e) => e.response.status === wanted;

async function users(nuxeo) {
  const all = nuxeo.users();
  const admin = await all.fetch('Administrator');
  assert.equal(admin.id, 'Administrator');
  assert.deepEqual(admin.properties.groups, ['administrators']);
  const leela = await all.create({
    'entity-type': 'user',
    properties: { username: 'leela', firstName: 'Leela', company: 'Express', email: 'leela@example.org', password: 'one' },
  });
  assert.equal(leela.id, 'leela');
  assert.equal(leela.properties.lastName, null);
  assert.equal(leela.properties.password, undefined);
  await assert.rejects(all.create({ 'entity-type': 'user', properties: { username: 'leela' } }), status(409));
  leela.set({ firstName: 'Turanga' });
  assert.equal((await leela.save()).properties.firstName, 'Turanga');
  const profile = await all.fetch('leela', { enrichers: { user: ['userprofile'] } });
  assert.deepEqual(Object.keys(profile.contextParameters.userprofile).sort(), ['avatar', 'birthdate', 'gender', 'locale', 'phonenumber']);

  const odd = 'a/b c@d ミカエル';
  await all.create({ 'entity-type': 'user', properties: { username: odd, password: 'two' } });
  assert.equal((await all.fetch(odd)).id, odd);
  const other = new Nuxeo({ baseURL, auth: { method: 'basic', username: 'leela', password: 'one' } });
  assert.equal((await other.connect()).user.id, 'leela');
  await assert.rejects(other.users().delete(odd), status(403));
  assert.equal((await all.delete(odd)).status, 204);
  await assert.rejects(all.fetch(odd), status(404));
}

async function groups(nuxeo) {
  const all = nuxeo.groups();
  const admins = await all.fetch('administrators');
  assert.equal(admins.groupname, 'administrators');
  assert.equal(admins.grouplabel, 'Administrators group');
  const foo = await all.create({ 'entity-type': 'group', groupname: 'foo', grouplabel: 'Foo', memberUsers: ['Administrator'] });
  assert.equal(foo.grouplabel, 'Foo');
  const read = await all.fetch('foo', { fetchProperties: { group: ['memberUsers', 'memberGroups'] } });
  assert.deepEqual(read.memberUsers, ['Administrator']);
  assert.deepEqual(read.memberGroups, []);
  const plain = await all.fetch('foo');
  assert.equal(plain.memberUsers, undefined);
  plain.grouplabel = 'Fighters';
  assert.equal((await all.update(plain)).grouplabel, 'Fighters');
  assert.equal((await all.delete('foo')).status, 204);
  await assert.rejects(all.fetch('foo'), status(404));
}

async function directories(nuxeo) {
  const nature = nuxeo.directory('nature');
  const { entries } = await nature.fetchAll();
  assert.ok(entries.length > 30);
  const article = await nature.fetch('article');
  assert.equal(article['entity-type'], 'directoryEntry');
  assert.equal(article.directoryName, 'nature');
  assert.equal(article.properties.label, 'label.directories.nature.article');
  const translated = await nature.fetch('article', { translateProperties: { directoryEntry: ['label'] } });
  assert.equal(translated.properties.label, 'Article');

  await nature.create({ properties: { id: 'foo' } });
  const foo = await nature.fetch('foo');
  assert.equal(foo.get('label'), null);
  foo.set({ label: 'Foo' });
  assert.equal((await foo.save()).get('label'), 'Foo');
  await assert.rejects(nature.create({ properties: { id: 'foo' } }), status(409));
  assert.equal((await nature.delete('foo')).status, 204);
  await assert.rejects(nature.fetch('foo'), status(404));

  const url = 'http://address.com/';
  await nature.create({ properties: { id: url, label: 'Address' } });
  assert.equal((await nature.fetch(url)).properties.id, url);
  assert.equal((await nature.delete(url)).status, 204);
  await assert.rejects(nature.fetch(url), status(404));
}

async function references(nuxeo) {
  const repository = nuxeo.repository({ schemas: ['*'] });
  const made = await repository.create('/default-domain/workspaces', {
    'entity-type': 'document', type: 'File', name: 'refs',
    properties: { 'dc:nature': 'article', 'dc:subjects': ['art/architecture', 'music'], 'dc:coverage': 'europe/France' },
  });
  const doc = await nuxeo.repository({
    schemas: ['*'], fetchProperties: { document: ['dc:creator', 'dc:nature', 'dc:coverage'] },
  }).fetch(made.uid);
  assert.equal(doc.get('dc:creator').id, username);
  assert.equal(doc.get('dc:nature').properties.id, 'article');
  assert.equal(doc.get('dc:coverage').directoryName, 'l10ncoverage');
  doc.set({ 'dc:title': 'Resolved', 'dc:nature': doc.get('dc:nature') });
  assert.equal((await doc.save({ schemas: ['*'] })).uid, made.uid);
  const after = await repository.fetch(made.uid);
  assert.equal(after.get('dc:nature'), 'article');
  await repository.delete(made.path);
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });
  await users(nuxeo);
  await groups(nuxeo);
  await directories(nuxeo);
  await references(nuxeo);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
