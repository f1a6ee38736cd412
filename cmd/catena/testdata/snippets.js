// Prints calls that the console's page of operations offers, as JSON. Arguments: the page's script, the server's
// address, user, password, and what to call as JSON: {op, input, params}, or {upload} with a document's path.
const { readFileSync } = require('node:fs');
const vm = require('node:vm');

const [script, base, user, password, wanted] = process.argv.slice(2);
const Snippets = vm.runInNewContext(`${readFileSync(script, 'utf8')}; Snippets`);

(async () => {
  const { op, input, params, upload } = JSON.parse(wanted);
  let all;
  if (upload) {
    all = Snippets.upload(base, upload);
  } else {
    const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const described = await (await fetch(`${base}/api/v1/automation/${op}`, { headers: { Authorization } })).json();
    all = Snippets.of(described, base, input, params || {});
  }
  console.log(JSON.stringify(Object.fromEntries(all)));
})();
