// The console's page of documents: what one holds, its files, and what lies in it. Its address ends
// with the document's repository and id.
"use strict";
(() => {
  const per = 30;
  let shown = null;
  let page = 0;

  const address = (d) => `#${encodeURIComponent(d.repository)}/${d.uid}`;
  const ask = async (d, more = "", headers = {}) => (await call("GET", `/api/v1/repo/${encodeURIComponent(d.repository)}/id/${encodeURIComponent(d.uid)}${more}`, undefined, headers)).answer;

  // named reads the address of the page: nothing stands for the root.
  const named = async (headers) => {
    const parts = location.hash.slice(1).split("/").filter(Boolean).map(decodeURIComponent);
    const uid = parts.pop();
    if (parts.length) return ask({ repository: parts[0], uid }, "", headers);
    return (await call("GET", uid ? `/api/v1/id/${encodeURIComponent(uid)}` : "/api/v1/path/", undefined, headers)).answer;
  };

  const isFile = (v) => v !== null && typeof v === "object" && "mime-type" in v && "digest" in v;
  const size = (n) => (n < 1000 ? `${n} bytes` : n < 1e6 ? `${Math.round(n / 1e3)} kB` : `${(n / 1e6).toFixed(1)} MB`);

  // filesIn finds the files in a value, however deep.
  const filesIn = (v) => (isFile(v) ? [v] : v !== null && typeof v === "object" ? Object.values(v).flatMap(filesIn) : []);

  const text = (v) => {
    if (typeof v === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(v)) return moment(v);
    if (Array.isArray(v) && v.every((one) => typeof one !== "object")) return v.join(", ");
    return typeof v === "object" ? JSON.stringify(v) : String(v);
  };
  const isSet = ([, v]) => v !== null && v !== "" && !(Array.isArray(v) && !v.length) && !filesIn(v).length;

  const fill = (id, items) => {
    byId(id).hidden = !items.length;
    byId(id).querySelector("ul, tbody").replaceChildren(...items);
  };

  const child = (d) => make("li", {},
    make("div", {}, make("a", { href: address(d) }, d.title || d.path)),
    make("span", { class: "soft small" }, d.type), make("span", { class: "soft small" }, d.lastModified ? ago(d.lastModified) : ""));

  const list = async () => {
    if (!shown.facets?.includes("Folderish")) return fill("children", []);
    const found = await ask(shown, `/@children?pageSize=${per}&currentPageIndex=${page}`);
    fill("children", found.entries.length ? found.entries.map(child) : [make("li", { class: "soft" }, "Nothing here.")]);
    byId("place").textContent = `Page ${page + 1}`;
    byId("prev").disabled = page === 0;
    byId("next").disabled = !found.isNextPageAvailable;
    byId("place").parentElement.hidden = page === 0 && !found.isNextPageAvailable;
  };

  const show = async () => {
    shown = await named({ properties: "*", "enrichers-document": `breadcrumb,${Workflows.asked}` });
    page = 0;
    const above = (shown.contextParameters?.breadcrumb?.entries || []).filter((d) => d.uid !== shown.uid);
    byId("crumbs").replaceChildren(...above.map((d) => make("li", {}, make("a", { href: address(d) }, d.title || d.path))));
    byId("title").textContent = shown.title || shown.path;
    byId("about").replaceChildren(`${shown.type} · ${shown.path}${shown.state ? ` · ${shown.state}` : ""}${shown.isTrashed ? " · in the trash" : ""}`);
    fill("files", filesIn(shown.properties).map((f) => make("li", {},
      make("div", {}, f.data ? make("a", { href: f.data }, f.name || "file") : f.name || "file"), make("span", { class: "soft small" }, `${f["mime-type"]}, ${size(Number(f.length))}`))));
    fill("properties", Object.entries(shown.properties).filter(isSet).sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, v]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text(v)))));
    await list();
    await Workflows.show(shown);
  };

  byId("prev").addEventListener("click", tried(() => (page--, list())));
  byId("next").addEventListener("click", tried(() => (page++, list())));
  window.addEventListener("hashchange", tried(async () => (await show(), byId("title").focus()), false));
  tried(show)();
})();
