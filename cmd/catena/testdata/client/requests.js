// The package's requests unchanged: every way to sign in, what a request may ask for and how,
// times, errors and answers as they come. Arguments as of spine.js, and the secrets shared with
// a portal and with whoever signs JSON web tokens.
const assert = require('node:assert/strict');
const { createHmac } = require('node:crypto');
const Nuxeo = require('nuxeo');

const [baseURL, username, password, portalSecret, jwtSecret] = process.argv.slice(2);

const status = (wanted) => (e) => e.response.status === wanted;
const basic = { method: 'basic', username, password };
const client = (auth) => new Nuxeo({ baseURL, auth });

// signed makes a JSON web token as another program would.
function signed(claims) {
  const part = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const text = `${part({ alg: 'HS512', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac('sha512', jwtSecret).update(text).digest('base64url')}`;
}

async function signIns(nuxeo) {
  await assert.rejects(client(undefined).connect(), status(401));
  await assert.rejects(client({ method: 'unknown' }).connect(), status(401));
  await assert.rejects(client({ ...basic, username: 'nobody' }).connect(), status(401));
  const connected = await client(basic).login();
  assert.ok(connected.connected);
  assert.ok(connected.serverVersion.gte(Nuxeo.SERVER_VERSIONS.LTS_2019));

  const portal = client({ method: 'portal', secret: portalSecret, username });
  assert.equal((await portal.connect()).user.id, username);
  await assert.rejects(client({ method: 'portal', secret: 'another', username }).connect(), status(401));

  const now = Math.floor(Date.now() / 1000);
  const jwt = signed({ iss: 'nuxeo', sub: username, iat: now, exp: now + 60 });
  assert.equal((await client({ method: 'bearerToken', token: jwt }).connect()).user.id, username);
  const stale = signed({ iss: 'nuxeo', sub: username, iat: now - 120, exp: now - 60 });
  await assert.rejects(client({ method: 'bearerToken', token: stale }).connect(), status(401));
  const clients = nuxeo.directory('oauth2Clients');
  const row = await clients.create({
    properties: { name: 'JWT', clientId: 'jwt', clientSecret: 'of the client', redirectURIs: 'http://localhost/' },
  });
  const token = await Nuxeo.oauth2.fetchAccessTokenFromJWTToken({
    baseURL, clientId: 'jwt', clientSecret: 'of the client', jwtToken: jwt,
  });
  assert.equal((await client({ method: 'bearerToken', token }).connect()).user.id, username);
  await assert.rejects(Nuxeo.oauth2.fetchAccessTokenFromJWTToken({
    baseURL, clientId: 'jwt', clientSecret: 'another', jwtToken: jwt,
  }), (e) => e === 'invalid_client');
  await clients.delete(row.properties.id);

  Nuxeo.registerAuthenticator('own', {
    computeAuthenticationHeaders: (auth) => ({ Authorization: auth.line }),
  });
  const line = nuxeo.computeAuthenticationHeaders().Authorization;
  assert.equal((await client({ method: 'own', line }).connect()).user.id, username);
}

// asked covers what may be asked of an answer, on the client, the request and the call.
async function asked(nuxeo) {
  const plain = await nuxeo.request('path').path('default-domain').get();
  assert.equal(plain.type, 'Domain');
  assert.deepEqual(plain.properties, {});
  assert.equal(plain.contextParameters, undefined);
  assert.equal((await nuxeo.request('path/').get()).path, '/');
  assert.equal((await nuxeo.request('/path/default-domain/').get()).uid, plain.uid);

  const full = await nuxeo.request('path/default-domain').schemas(['dublincore'])
    .enricher('document', 'permissions').enrichers({ document: ['breadcrumb', 'acls'] }, false)
    .fetchProperty('document', 'dc:creator').fetchProperties({ document: ['versionLabel'] }, false).get();
  assert.equal(full.get('dc:title'), 'Domain');
  assert.equal(full.get('common:icon'), undefined);
  assert.deepEqual(Object.keys(full.contextParameters).sort(), ['acls', 'breadcrumb', 'permissions']);
  assert.equal(full.versionLabel, ''); // of a type without versions
  assert.ok(full.hasPermission('Everything'));

  const crumb = async (depth) => {
    const doc = await nuxeo.request('path/default-domain/workspaces').schemas(['*'])
      .enrichers({ document: ['breadcrumb'] }).depth(depth).get();
    return doc.contextParameters.breadcrumb.entries[0];
  };
  assert.equal((await crumb('root')).properties, undefined);
  assert.equal((await crumb('children')).properties['dc:title'], 'Domain');

  const translated = await nuxeo.request('directory/nature/article').translateProperty('directoryEntry', 'label')
    .header('Accept-Language', 'en').get();
  assert.equal(translated.get('label'), 'Article');
  const french = client(basic).translateProperties({ directoryEntry: ['label'] }).headers({ 'Accept-Language': 'fr' });
  assert.equal((await french.request('directory/nature/acknowledgement').get()).get('label'), 'Accusé de réception');
  assert.equal((await nuxeo.request('directory/nature/acknowledgement').get()).get('label'), 'label.directories.nature.acknowledgement');
  const own = client(basic).schemas(['*']).header('X-Versioning-Option', 'NONE').repositoryName('default');
  assert.equal((await own.request('path/default-domain').get()).get('dc:title'), 'Domain');
  assert.equal((await own.request('path/default-domain').get({ schemas: ['uid'] })).get('dc:title'), undefined);
  await assert.rejects(nuxeo.request('path/default-domain').repositoryName('other').get(), status(404));
  await assert.rejects(nuxeo.repository('other').fetch('/'), status(404));
  assert.equal((await nuxeo.repository('default').fetch('/default-domain')).repository, 'default');
}

// versions covers what clients decide by the server's version.
async function versions(nuxeo) {
  const { LTS_2016, LTS_2019 } = Nuxeo.SERVER_VERSIONS;
  const { serverVersion: is } = nuxeo;
  assert.ok(is.gt(LTS_2019) && is.gt('11.1') && !is.lt(LTS_2016) && !is.lte('10.10') && is.eq(nuxeo.nuxeoVersion));
  const info = await nuxeo.http({ method: 'GET', url: `${baseURL}json/cmis` });
  assert.equal(info.default.productVersion, nuxeo.nuxeoVersion);
}

// documentation covers what clients check parameters by: some know these words for types and no other.
async function documentation(nuxeo) {
  const words = new Set(['blob', 'boolean', 'date', 'document', 'documents', 'int', 'integer', 'list', 'long', 'map', 'object',
    'properties', 'resource', 'serializable', 'string', 'stringlist', 'validationmethod']);
  const listed = await nuxeo.request('automation').get();
  assert.ok(listed.operations.length > 200 && listed.chains.length > 0);
  const unknown = [...listed.operations, ...listed.chains]
    .flatMap((o) => o.params.filter((p) => !words.has(p.type)).map((p) => `${o.id} ${p.name} ${p.type}`));
  assert.deepEqual(unknown, []);
}

async function verbs(nuxeo) {
  const body = { 'entity-type': 'document', type: 'Folder', name: 'verbs', properties: { 'dc:title': 'Verbs' } };
  const made = await nuxeo.request('path/default-domain/workspaces').post({ body });
  const changed = await nuxeo.request('id').path(made.uid).schemas(['*'])
    .put({ body: { 'entity-type': 'document', properties: { 'dc:description': 'changed' } } });
  assert.equal(changed.get('dc:description'), 'changed');
  const found = await nuxeo.request('query').queryParams({ query: 'SELECT * FROM Folder' })
    .queryParams({ pageSize: 1, sortBy: 'dc:title', sortOrder: 'asc' }).execute({ method: 'GET' });
  assert.equal(found.entries.length, 1);

  const whole = await nuxeo.request(`id/${made.uid}`).get({ resolveWithFullResponse: true });
  assert.equal(whole.status, 200);
  assert.match(whole.headers.get('content-type'), /^application\/json/);
  assert.equal((await whole.json()).uid, made.uid);
  const gone = await nuxeo.request(`id/${made.uid}`).delete();
  assert.equal(gone.status, 204);
  const csv = await nuxeo.request('path/default-domain/@audit').get({ json: false, headers: { Accept: 'text/csv' } });
  assert.match(csv.headers.get('content-type'), /^text\/csv/);
}

async function errors(nuxeo) {
  const failure = async (promise) => promise.then(() => assert.fail('no failure'), (e) => e);
  const missing = await failure(nuxeo.request('path/default-domain/nope').get());
  assert.ok(missing instanceof Error);
  assert.equal(missing.message, 'Not Found');
  assert.equal(missing.response.status, 404);
  const told = await missing.response.json();
  assert.deepEqual([told['entity-type'], told.status, told.message], ['exception', 404, '/default-domain/nope']);
  assert.equal((await failure(nuxeo.request('nothing').get())).response.status, 404);
  assert.equal((await failure(nuxeo.request('search/lang/SQL/execute').get())).response.status, 400);
  assert.equal((await failure(nuxeo.request('path/default-domain').post({ body: { 'entity-type': 'document' } }))).response.status, 400);
  assert.equal((await failure(nuxeo.request('automation').delete())).response.status, 405);
  await assert.rejects(nuxeo.operation('Nothing.There').execute(), status(404));
  const nobody = new Nuxeo({ baseURL: 'http://127.0.0.1:1/nuxeo/', auth: basic });
  assert.equal((await failure(nobody.connect())).response, undefined);
}

// times: a transaction's time is its server's to watch, a request's its sender's.
async function times(nuxeo) {
  const quick = await nuxeo.request('path/default-domain').transactionTimeout(30).httpTimeout(20000).get();
  assert.equal(quick.type, 'Domain');
  assert.equal((await nuxeo.request('path/default-domain').timeout(30).get()).type, 'Domain');
  const stop = new AbortController();
  const pending = nuxeo.request('path/default-domain').get({ signal: stop.signal });
  stop.abort();
  await assert.rejects(pending, (e) => e.name === 'AbortError');
}

async function shapes(nuxeo) {
  Nuxeo.registerUnmarshaller('login', (json) => ({ told: json.username }));
  assert.equal((await nuxeo.request('automation/login').post()).told, username);
  const users = await nuxeo.request('user/search').queryParams({ q: '*' }).get();
  assert.ok(users.entries.length > 0);
  const doc = await nuxeo.request('path/default-domain').get();
  const copy = JSON.parse(JSON.stringify(doc));
  assert.equal(copy.uid, doc.uid);
  assert.deepEqual(Object.keys(copy).filter((k) => k.startsWith('_')), []);
}

async function main() {
  const nuxeo = client(basic);
  await nuxeo.connect();
  await signIns(nuxeo);
  await asked(nuxeo);
  await versions(nuxeo);
  await documentation(nuxeo);
  await verbs(nuxeo);
  await errors(nuxeo);
  await times(nuxeo);
  await shapes(nuxeo);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
