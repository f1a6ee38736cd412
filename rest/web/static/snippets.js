// Calls of operations as people paste them: curl, JavaScript with the npm package nuxeo, Python with the package
// nuxeo. Who signs in is left to the environment: CATENA_USER and CATENA_PASSWORD.
"use strict";
const Snippets = (() => {
  const somewhere = "/path/to/document";
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const json = (value) => JSON.stringify(value);
  const indented = (text, by) => text.replaceAll("\n", `\n${by}`);
  const lines = (...all) => all.filter((l) => typeof l === "string").join("\n");

  // python writes a JSON value as Python does.
  const python = (value) => {
    if (value === null) return "None";
    if (value === true) return "True";
    if (value === false) return "False";
    if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
    if (typeof value === "object") return `{${Object.entries(value).map(([k, v]) => `${json(k)}: ${python(v)}`).join(", ")}}`;
    return json(value);
  };

  // example is a value for a required parameter that nobody has given.
  const example = (p) => {
    if (p.values?.length) return p.values[0];
    switch (p.type) {
      case "boolean": return true;
      case "int": case "integer": case "long": case "float": case "double": return 1;
      case "document": case "documents": return somewhere;
      case "date": return "2030-01-01T00:00:00Z";
      case "properties": case "map": return { "dc:title": "…" };
      case "list": case "stringlist": return ["…"];
      default: return "…";
    }
  };

  const takes = (op) => (op.signature || []).filter((_, i) => i % 2 === 0);
  const gives = (op) => (op.signature || []).filter((_, i) => i % 2 === 1);

  // call is what is sent: with a file if the operation takes one and no document is named.
  const callOf = (op, input, params) => {
    const all = {};
    for (const p of op.params || []) {
      if (params[p.name] !== undefined) all[p.name] = p.secret ? "…" : params[p.name];
      else if (p.required) all[p.name] = example(p);
    }
    const file = !input && takes(op).some((t) => t === "blob" || t === "bloblist");
    const needed = takes(op).length > 0 && !takes(op).includes("void");
    return { file, input: input || (needed && !file ? somewhere : undefined), params: all };
  };

  const curlAs = 'curl -u "$CATENA_USER:$CATENA_PASSWORD"';
  const connectJS = (base, ...more) => lines('const Nuxeo = require("nuxeo");', ...more, "", "const nuxeo = new Nuxeo({", `  baseURL: ${json(`${base}/`)},`,
    '  auth: { method: "basic", username: process.env.CATENA_USER, password: process.env.CATENA_PASSWORD },', "});");
  const fileJS = 'new Nuxeo.Blob({ content: createReadStream("file.txt"), name: "file.txt", mimeType: "text/plain", size: statSync("file.txt").size })';
  const connectPython = (base, ...more) => lines("import os", "from nuxeo.client import Nuxeo", ...more, "",
    `nuxeo = Nuxeo(host=${json(`${base}/`)}, auth=(os.environ["CATENA_USER"], os.environ["CATENA_PASSWORD"]))`);

  const curl = (op, base, c, output) => {
    const body = json(c.file || c.input === undefined ? { params: c.params } : { input: c.input, params: c.params });
    const sent = c.file
      ? [`-F ${quoted(`request="${body.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}";type=application/json`)}`, "-F 'input=@file.txt'"]
      : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`];
    return [curlAs, ...(output ? ["-o result"] : []), ...sent, quoted(`${base}/api/v1/automation/${encodeURIComponent(op.id)}`)].join(" \\\n  ");
  };

  const javaScript = (op, base, c, output) => {
    const needs = [c.file && "createReadStream, statSync", output && "writeFileSync"].filter(Boolean).join(", ") || null;
    return lines(connectJS(base, needs && `const { ${needs} } = require("node:fs");`), "", `nuxeo.operation(${json(op.id)})`,
      c.file ? `  .input(${fileJS})` : c.input !== undefined && `  .input(${json(c.input)})`,
      Object.keys(c.params).length > 0 && `  .params(${indented(JSON.stringify(c.params, null, 2), "  ")})`,
      "  .execute()",
      output ? '  .then(async (result) => writeFileSync("result", Buffer.from(await result.arrayBuffer())));' : "  .then((result) => console.log(result));");
  };

  const pythonCall = (op, base, c, output) => lines(connectPython(base, c.file && "from nuxeo.models import FileBlob"),
    c.file && 'uploaded = nuxeo.uploads.batch().upload(FileBlob("file.txt"))',
    "result = nuxeo.operations.execute(", `    command=${json(op.id)},`,
    c.file ? "    input_obj=uploaded," : c.input !== undefined && `    input_obj=${json(c.input)},`,
    `    params=${python(c.params)},`,
    output && '    file_out="result",', ")", "print(result)");

  return {
    // of writes the calls of an operation with an input and parameters; what is required and not given is made up.
    of(op, base, input, params) {
      const c = callOf(op, input, params);
      const results = gives(op);
      const output = results.length > 0 && results.every((t) => t === "blob" || t === "bloblist");
      return [["curl", curl(op, base, c, output)], ["JavaScript", javaScript(op, base, c, output)], ["Python", pythonCall(op, base, c, output)]];
    },

    // upload writes how a file is uploaded to a batch and then attached to a document.
    upload(base, document = somewhere) {
      const attach = "Blob.AttachOnDocument";
      return [
        ["curl", lines(
          `batch=$(${curlAs} -s -X POST ${quoted(`${base}/api/v1/upload`)} | sed 's/.*"batchId":"\\([^"]*\\)".*/\\1/')`,
          `${curlAs} -H 'X-File-Name: file.txt' -H 'X-File-Type: text/plain' -H 'Content-Type: application/octet-stream' \\`,
          `  --data-binary @file.txt ${quoted(`${base}/api/v1/upload/`)}"$batch/0"`,
          `${curlAs} -H 'Content-Type: application/json' -d ${quoted(json({ params: { document } }))} \\`,
          `  ${quoted(`${base}/api/v1/upload/`)}"$batch/0/execute/${attach}" -o /dev/null`)],
        ["JavaScript", lines(connectJS(base, 'const { createReadStream, statSync } = require("node:fs");'), "", "const batch = nuxeo.batchUpload();",
          `batch.upload(${fileJS})`,
          `  .then(({ blob }) => nuxeo.operation(${json(attach)}).input(blob).params(${json({ document })}).execute());`)],
        ["Python", lines(connectPython(base, "from nuxeo.models import FileBlob"), 'uploaded = nuxeo.uploads.batch().upload(FileBlob("file.txt"))',
          `nuxeo.operations.execute(command=${json(attach)}, input_obj=uploaded, params=${python({ document })})`)],
      ];
    },
  };
})();
