// Tokens of OAuth 2 and of devices with the npm package unchanged. Arguments as of spine.js.
const assert = require('node:assert/strict');
const qs = require('node:querystring');
const Nuxeo = require('nuxeo');

const [baseURL, username, password] = process.argv.slice(2);
const base = baseURL.replace(/\/$/, '');
const clientId = 'client-of-the-tests';
const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const status = (wanted) => (e) => e.response.status === wanted;

// newToken has the user let the client in and gets a token, following the redirect as a
// browser does.
async function newToken() {
  const url = Nuxeo.oauth2.getAuthorizationURL({ baseURL: base, clientId });
  const fields = qs.parse(url.substring(url.indexOf('?') + 1));
  fields.grant_access = '1';
  const res = await fetch(url.replace(/authorize.*/, 'authorize_submit'), {
    method: 'POST',
    body: qs.stringify(fields),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Authorization: basic },
  });
  const { code } = qs.parse(res.url.substring(res.url.indexOf('?') + 1));
  return Nuxeo.oauth2.fetchAccessTokenFromAuthorizationCode({ baseURL: base, clientId, code });
}

async function oauth(nuxeo) {
  const clients = nuxeo.directory('oauth2Clients');
  const tokens = nuxeo.directory('oauth2Tokens');
  const client = await clients.create({
    properties: { name: 'Test', clientId, redirectURIs: `http://localhost:${new URL(base).port}/nuxeo/home.html` },
  });

  const first = await newToken();
  assert.deepEqual(Object.keys(first).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type']);
  assert.equal((await newToken()).access_token, first.access_token);
  const holder = new Nuxeo({ baseURL, auth: { method: 'bearerToken', clientId, token: first.access_token } });
  assert.ok((await holder.repository().fetch('/')).uid);
  const second = await Nuxeo.oauth2.refreshAccessToken({ baseURL: base, clientId, refreshToken: first.refresh_token });
  assert.notEqual(second.access_token, first.access_token);
  assert.notEqual(second.refresh_token, first.refresh_token);
  await assert.rejects(holder.repository().fetch('/default-domain'), status(401));

  // a token that has expired is refreshed on the way
  let refreshed = false;
  const bearer = new Nuxeo({ baseURL, auth: { method: 'bearerToken', clientId, token: second } });
  bearer.onAuthenticationRefreshed(() => { refreshed = true; });
  assert.ok((await bearer.repository().fetch('/')).uid);
  const of = async (token) => (await tokens.fetchAll()).entries.find((e) => e.properties.accessToken === token);
  const row = await of(second.access_token);
  assert.equal(typeof row.properties.id, 'number');
  row.set({ id: `${row.properties.id}`, creationDate: '2011-10-23T12:00:00.00Z' });
  await row.save();
  assert.ok((await bearer.repository().fetch('/')).uid);
  assert.ok(refreshed);

  // a row that is deleted is a token that is revoked
  const last = await of(bearer._auth.token.access_token);
  await tokens.delete(last.properties.id);
  await assert.rejects(bearer.repository().fetch('/default-domain'), status(401));
  await clients.delete(client.properties.id);
  await assert.rejects(newToken());
}

// administration reads and writes clients as their own addresses show them.
async function administration(nuxeo) {
  const body = { 'entity-type': 'oauth2Client', id: 'app', name: 'App', secret: 'hush', redirectURIs: ['https://app.example/'] };
  const made = await nuxeo.request('oauth2/client').post({ body });
  assert.deepEqual([made.id, made.redirectURIs, made.isEnabled, made.secret], ['app', ['https://app.example/'], true, null]);
  await assert.rejects(nuxeo.request('oauth2/client').post({ body }), status(409));
  assert.equal((await nuxeo.request('oauth2/client/app').put({ body: { name: 'Renamed' } })).name, 'Renamed');
  assert.deepEqual((await nuxeo.request('oauth2/client').get()).entries.map((c) => c.id), ['app']);
  assert.deepEqual((await nuxeo.request('oauth2/token/provider').get()).entries, []);
  await assert.rejects(nuxeo.request(`oauth2/token/client/app/user/${username}`).get(), status(404));
  assert.equal((await nuxeo.request('oauth2/client/app').delete()).status, 204);
  await assert.rejects(nuxeo.request('oauth2/client/app').get(), status(404));
}

async function device(nuxeo) {
  const token = await nuxeo.requestAuthenticationToken('Tests', 'device-1', 'A device', 'ReadWrite');
  assert.equal(token, await nuxeo.requestAuthenticationToken('Tests', 'device-1', 'A device', 'ReadWrite'));
  const holder = new Nuxeo({ baseURL, auth: { method: 'token', token } });
  assert.equal((await holder.connect()).user.id, username);
  const byAddress = await fetch(holder.authenticateURL(`${base}/api/v1/me`));
  assert.equal((await byAddress.json()).id, username);
  const wrong = new Nuxeo({ baseURL, auth: { method: 'token', token: 'wrong' } });
  await assert.rejects(wrong.connect(), status(401));
}

async function main() {
  const nuxeo = new Nuxeo({ baseURL, auth: { method: 'basic', username, password } });
  await nuxeo.connect();
  await oauth(nuxeo);
  await administration(nuxeo);
  await device(nuxeo);
}

main().catch((e) => {
  console.error(e.stack || e);
  if (e.response) e.response.text().then((t) => console.error(t)).finally(() => process.exit(1));
  else process.exit(1);
});
