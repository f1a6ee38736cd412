// Documents as the pages of the console ask for and change them. Everything goes through this module, as ordinary calls of
// REST and of operations; the server decides what is permitted, and pages show what it said they may do.
"use strict";
const Docs = (() => {
  const asked = "breadcrumb,permissions,subtypes,acls,tags,collections,favorites,subscribedNotifications,renditions,userVisiblePermissions,runnableWorkflows,runningWorkflows,pendingTasks";
  const at = (d) => `/api/v1/repo/${encodeURIComponent(d.repository)}/id/${encodeURIComponent(d.uid)}`;
  const link = (d) => `${site.prefix}/ui/documents#${encodeURIComponent(d.repository)}/${d.uid}`;
  const whole = { properties: "*", "fetch-document": "lock,versionLabel" };
  const title = (d) => d.title || d.path.split("/").pop() || "Root";

  const ask = async (d, more = "", headers = {}) => (await call("GET", at(d) + more, undefined, headers)).answer;
  const read = (d, enrichers = asked) => ask(d, "", { ...whole, ...(enrichers ? { "enrichers-document": enrichers } : {}) });

  // at a path or an id of the first repository; "" is its root.
  const find = async (name, headers = {}) => (await call("GET", name.startsWith("/") || name === "" ? `/api/v1/path/${name.split("/").filter(Boolean).map(encodeURIComponent).join("/")}` : `/api/v1/id/${encodeURIComponent(name)}`, undefined, headers)).answer;

  const inputOf = (d) => (Array.isArray(d) && d.length > 1 ? `docs:${d.map((x) => x.uid).join(",")}` : [d].flat()[0].uid);

  // inParts divides a selection: of all that lists show, the documents are more than a call may change, or a query name.
  const inParts = (docs) => (docs.length ? [docs.slice(0, 1000), ...inParts(docs.slice(1000))] : []);

  // op runs an operation on one document or on several of the same repository, and returns what it returned last.
  const op = async (d, name, params = {}, headers = {}) => {
    const list = [d].flat();
    let out;
    let done = 0;
    for (const part of inParts(list)) {
      try {
        out = bare((await call("POST", `/api/v1/automation/${encodeURIComponent(name)}`, { params, input: inputOf(part) }, { "X-NXRepository": list[0].repository, ...headers })).answer);
      } catch (error) {
        if (done) error.message += ` (${done.toLocaleString()} of ${list.length.toLocaleString()} documents are done)`;
        throw error;
      }
      done += part.length;
    }
    return out;
  };

  // save changes properties if the document is still as it was read; otherwise the server refuses with 409.
  const save = async (d, properties) => (await call("PUT", at(d), { "entity-type": "document", repository: d.repository, uid: d.uid, changeToken: d.changeToken, properties })).answer;
  const create = async (folder, type, name, properties) => (await call("POST", at(folder), { "entity-type": "document", type, name: name || undefined, properties })).answer;

  const may = (d, ...names) => names.some((n) => d.contextParameters?.permissions?.includes(n));
  const has = (d, facet) => d.facets?.includes(facet);

  // query returns what Rows loads: pages of a query, each by the cursor of the one before.
  const query = (repository, text, { size = 100, sortBy = "", sortOrder = "", params = {}, headers = {} } = {}) => async (after) => {
    const q = new URLSearchParams({ query: text, pageSize: size, ...params, ...(sortBy ? { sortBy, sortOrder } : {}), ...(after ? { after } : {}) });
    const { answer } = await call("GET", `/api/v1/repo/${encodeURIComponent(repository)}/search/execute?${q}`, undefined, { properties: "dublincore,file", "fetch-document": "lock", ...headers });
    return { entries: answer.entries, next: answer.isNextPageAvailable ? answer.nextCursor : undefined, total: answer.resultsCount >= 0 ? answer.resultsCount : undefined, answer };
  };
  const quoted = (text) => `'${String(text).replace(/[\\']/g, (c) => `\\${c}`)}'`;

  // blobs sends the files among values and puts what names them on the server in their places.
  const blobs = async (values) => {
    let batch = null;
    let n = 0;
    const sent = async (v) => {
      if (v instanceof File) {
        batch ||= (await call("POST", "/api/v1/upload")).answer.batchId;
        const i = n++;
        await put(batch, i, v);
        return { "upload-batch": batch, "upload-fileId": String(i) };
      }
      if (Array.isArray(v)) return Promise.all(v.map(sent));
      if (v && typeof v === "object") return Object.fromEntries(await Promise.all(Object.entries(v).map(async ([k, x]) => [k, await sent(x)])));
      return v;
    };
    const out = {};
    for (const [name, v] of Object.entries(values)) out[name] = await sent(v);
    return out;
  };
  const put = async (batch, i, file) => {
    const response = await fetch(`${site.prefix}/api/v1/upload/${batch}/${i}`, {
      method: "POST", body: file, credentials: "same-origin",
      headers: { "X-CSRF-Token": site.csrf, "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name), "X-File-Type": file.type || "application/octet-stream", "X-File-Size": String(file.size) },
    });
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  };
  // add makes a document of a file.
  const add = async (folder, file) => {
    const { batchId } = (await call("POST", "/api/v1/upload")).answer;
    await put(batchId, 0, file);
    return (await call("POST", `/api/v1/upload/${batchId}/0/execute/FileManager.Import`, { params: {}, context: { currentDocument: folder.uid } }, { "X-NXRepository": folder.repository })).answer;
  };

  // filesIn finds the files in a value, however deep, with their xpaths.
  const isFile = (v) => v !== null && typeof v === "object" && "mime-type" in v && "digest" in v;
  const filesIn = (v, path = "") => (isFile(v) ? [[path, v]] : v !== null && typeof v === "object" ? Object.entries(v).flatMap(([k, x]) => filesIn(x, path ? `${path}/${k}` : k)) : []);

  // download asks for what an operation makes, and has the browser keep it.
  const keep = (blob, name) => {
    const a = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(a.href), 60e3);
  };
  const download = async (d, name, params, filename) => {
    const response = await fetch(`${site.prefix}/api/v1/automation/${name}`, {
      method: "POST", credentials: "same-origin", headers: { "X-CSRF-Token": site.csrf, "Content-Type": "application/json", "X-NXRepository": [d].flat()[0].repository },
      body: JSON.stringify({ params, input: inputOf(d) }),
    });
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
    const file = await response.blob();
    if (file.size === 22 && filename.endsWith(".zip")) throw new Error("There are no files to download."); // so long is an archive without entries
    keep(file, filename);
  };

  // redrawn draws a part of the page again after a change and says so. The focus stays on the button of the same name in the same
  // section, or goes to the section.
  const redrawn = async (box, draw, words = "Saved.") => {
    const at = document.activeElement;
    const name = (e) => e.getAttribute("aria-label") || e.textContent;
    const section = at.closest("section[aria-label]")?.ariaLabel;
    await draw();
    byId("done").textContent = words;
    byId("done").hidden = false;
    if (at.isConnected && at !== document.body) return;
    const now = [...box.querySelectorAll("section")].find((s) => s.ariaLabel === section) || box;
    const same = [...now.querySelectorAll("button")].find((b) => name(b) === name(at));
    now.tabIndex = -1;
    (same || now).focus({ preventScroll: true });
  };

  let schemas = null;
  const allSchemas = () => (schemas ||= call("GET", "/api/v1/config/schemas", undefined, { "fetch-schema": "fields" }).then(({ answer }) => new Map(answer.map((s) => [s.name, s]))));
  const types = new Map();
  const schemasOf = async (type) => {
    if (!types.has(type)) types.set(type, call("GET", `/api/v1/config/types/${encodeURIComponent(type)}`).then(({ answer }) => answer.schemas.map((s) => s.name)));
    return types.get(type);
  };

  return { at, link, title, ask, read, find, op, save, create, may, has, query, quoted, inParts, blobs, redrawn, add, filesIn, keep, download, allSchemas, schemasOf };
})();
