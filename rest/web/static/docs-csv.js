// Documents as CSV: tables of what is in a folder, selected or found, and documents made of tables.
"use strict";
const DocTables = (() => {
  const usual = ["dc:title", "dc:description", "dc:creator", "dc:created", "dc:modified", "dc:nature"];
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  const inRepository = (name) => ({ "X-NXRepository": name });

  // made has the server make a table of all documents of a query.
  const made = async (repository, query, xpaths, filename, say) => {
    const { answer } = await call("POST", "/api/v1/automation/Bulk.RunAction", { params: { action: "csvExport", query, parameters: JSON.stringify({ xpaths, fileName: filename }) } }, inRepository(repository));
    const { commandId } = bare(answer);
    for (let pause = 200; ; pause = Math.min(pause * 1.5, 3000)) {
      const { answer: now } = await call("GET", `/api/v1/bulk/${commandId}`);
      if (now.error || now.state === "ABORTED") throw new Error(now.errorMessage || "The export was stopped.");
      if (now.state === "COMPLETED") break;
      say(`Exporting… ${(now.processed || 0).toLocaleString()}${now.total ? ` of ${now.total.toLocaleString()}` : ""}`);
      await wait(pause);
    }
    const response = await fetch(`${site.prefix}/api/v1/bulk/${commandId}/result`, { credentials: "same-origin" });
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
    return response.blob();
  };

  // save has the browser keep one table of all documents of queries; what they have in the first line is there once.
  const save = async (repository, queries, ...how) => {
    const parts = [];
    for (const query of queries) {
      const part = await made(repository, query, ...how);
      parts.push(parts.length ? part.slice((await part.text()).indexOf("\n") + 1) : part);
    }
    Docs.keep(new Blob(parts, { type: "text/csv" }), how[1]);
  };

  // ask asks for the columns, and with scopes for the queries; then it saves the table.
  const ask = (title, repository, scopes, filename) => {
    const said = make("p", { role: "status", class: "soft" });
    const form = Form.of([
      ...(scopes.length > 1 ? [{ name: "scope", label: "Documents", kind: "choice", required: true, values: scopes.map(([, label], i) => [String(i), label]) }] : []),
      { name: "xpaths", label: "Columns", kind: "text", list: true, pick: "xpath", doc: "Id, path, type, state, title and dates are always there." },
    ], { scope: "0", xpaths: usual });
    return Dialogs.open({ title, action: "Export", body: [form.element, said], act: async () => {
      const { scope, xpaths } = form.value();
      await save(repository, scopes[Number(scope || 0)][0], xpaths || [], filename, (text) => (said.textContent = text));
      return true;
    } }).then(() => false); // nothing has changed
  };

  const live = "ecm:isVersion = 0 AND ecm:isTrashed = 0 AND ecm:mixinType != 'HiddenInNavigation'";
  const ofFolder = (d) => ask(`Export ${Docs.title(d)} as CSV`, d.repository, [
    [[`SELECT * FROM Document WHERE ecm:parentId = ${Docs.quoted(d.uid)} AND ${live} ORDER BY dc:title`], "in this folder"],
    [[`SELECT * FROM Document WHERE ecm:ancestorId = ${Docs.quoted(d.uid)} AND ${live} ORDER BY ecm:path`], "everything below it"],
  ], `${Docs.title(d).replace(/[/\\]/g, "-")}.csv`);
  const ofMany = (docs) => ask(`Export ${docs.length} documents as CSV`, docs[0].repository, [[Docs.inParts(docs).map((part) => `SELECT * FROM Document WHERE ecm:uuid IN (${part.map((d) => Docs.quoted(d.uid)).join(", ")}) ORDER BY ecm:path`), ""]], "documents.csv");
  const ofQuery = (query) => ask("Export all results as CSV", "default", [[[query], ""]], "search.csv");

  // upload makes documents of the rows of a table, and shows what became of them.
  const upload = async (folder) => {
    const said = make("p", { role: "status", class: "soft" });
    const file = make("input", { type: "file", accept: ".csv,text/csv", required: true });
    const id = await Dialogs.open({ title: `Import CSV into ${Docs.title(folder)}`, action: "Import", body: [
      make("p", {}, "Each row is a document. The first line names the columns: ", make("code", {}, "name"), ", ", make("code", {}, "type"), " and properties such as ", make("code", {}, "dc:title"), ". Documents that exist are updated. An exported table can be edited and imported again: its rows change the documents they came from. ", make("a", { href: `${site.prefix}/docs/integrate#load-many-documents` }, "More about the columns")),
      make("pre", { class: "result", tabindex: "0", "aria-label": "Example" }, "name,type,dc:title,dc:subjects\nplan,Note,Our plan,art|society\nletters,Folder,Letters,"),
      make("label", { class: "field" }, "File", file), said,
    ], act: async () => {
      if (!file.files.length) throw new Error("Choose a file.");
      const { answer } = await call("POST", "/api/v1/automation/CSV.Import", withFile(file.files[0], { path: folder.uid }), inRepository(folder.repository));
      const begun = bare(answer);
      const ask = async (name) => bare((await call("POST", `/api/v1/automation/${name}`, { params: {}, input: begun }, inRepository(folder.repository))).answer);
      for (let pause = 200; ; pause = Math.min(pause * 1.5, 3000)) {
        const now = await ask("CSV.ImportStatus");
        if (now.state === "COMPLETED" || now.state === "ERROR") break;
        said.textContent = `Importing… ${(now.numberOfProcessedDocument || 0).toLocaleString()} rows`;
        await wait(pause);
      }
      return { result: await ask("CSV.ImportResult"), log: await ask("CSV.ImportLog"), status: await ask("CSV.ImportStatus") };
    } });
    if (!id) return false;
    const bad = (Array.isArray(id.log) ? id.log : []).filter((l) => l.status !== "SUCCESS");
    const counts = id.result || {};
    await Dialogs.open({ title: "Imported", action: "", cancel: "Close", wide: true, body: [
      make("p", {}, `${(counts.successLineCount || 0).toLocaleString()} rows imported, ${(counts.skippedLineCount || 0).toLocaleString()} skipped, ${(counts.errorLineCount || 0).toLocaleString()} rejected.${counts.totalLineCount ? "" : " The file has no rows below the first line, which names the columns."}`),
      id.status.state === "ERROR" ? make("p", { class: "alert" }, id.status.errorMessage || "The import failed as a whole.") : null,
      ...(bad.length ? [make("div", { class: "scroll" }, make("table", {}, make("caption", {}, "Rows that were not imported"), make("thead", {}, make("tr", {}, ...["Line", "Status", "Reason"].map((h) => make("th", { scope: "col" }, h)))),
        make("tbody", {}, ...bad.slice(0, 500).map((l) => make("tr", {}, make("th", { scope: "row" }, l.line), make("td", {}, l.status === "ERROR" ? "rejected" : "skipped"), make("td", {}, l.message))))))] : []),
    ].filter(Boolean) });
    return true;
  };

  return { ofFolder, ofMany, ofQuery, upload };
})();
