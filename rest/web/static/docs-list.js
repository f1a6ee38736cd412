// Lists of documents with a selection, and what can be done to what is selected: for folders, the trash and searches.
"use strict";
const DocList = (() => {
  const icons = { folder: "M3 6h6l2 2h10v11H3z", file: "M6 3h8l4 4v14H6zM14 3v4h4", picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4", note: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h4" };
  const sign = (d) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", icons[d.facets?.includes("Folderish") ? "folder" : d.facets?.includes("Picture") ? "picture" : d.type === "Note" ? "note" : "file"]);
    svg.append(path);
    return svg;
  };

  // of makes a list. acts(selected) returns the buttons for a selection; changed is told after one did its work.
  const of = ({ label, load, empty, where = false, acts }) => {
    const chosen = new Map();
    const bar = make("div", { class: "chosen-bar", role: "group", "aria-label": "Selection", hidden: true });
    const count = make("output", { class: "soft" });
    const rows = Rows.list({ label, load, empty, fill: (d) => [
      acts ? make("input", { type: "checkbox", "aria-label": `Select ${Docs.title(d)}`, checked: chosen.has(d.uid), onchange: (e) => {
        if (e.target.checked) chosen.set(d.uid, d);
        else chosen.delete(d.uid);
        show();
      } }) : null,
      sign(d),
      make("span", { class: "what" }, make("a", { href: Docs.link(d) }, Docs.title(d)),
        make("span", { class: "soft small" }, [Form.words(d.type), where ? d.path : "", d.lockOwner ? `locked by ${d.lockOwner}` : "", d.hasLegalHold ? "legal hold" : d.isUnderRetentionOrLegalHold ? "retained" : d.isRecord ? "record" : "", d.state && d.state !== "project" ? d.state : ""].filter(Boolean).join(" · "))),
      make("span", { class: "soft small when" }, d.lastModified ? ago(d.lastModified) : "", d.properties?.["dc:lastContributor"] ? ` · ${d.properties["dc:lastContributor"]}` : ""),
    ] });
    const show = () => {
      bar.hidden = !chosen.size;
      bar.replaceChildren(...(chosen.size ? [make("span", { role: "status" }, `${chosen.size} selected`), ...acts([...chosen.values()], self), make("button", { type: "button", class: "quiet", onclick: clear }, "Clear")] : []));
    };
    const clear = () => {
      chosen.clear();
      show();
      rows.draw();
    };
    rows.element.addEventListener("loaded", () => {
      count.textContent = rows.ended ? `${rows.entries.length.toLocaleString()} ${rows.entries.length === 1 ? "document" : "documents"}` : rows.total ? `${rows.total.toLocaleString()} documents` : `More than ${rows.entries.length.toLocaleString()} documents`;
    });
    const all = () => {
      for (const d of rows.entries) chosen.set(d.uid, d);
      show();
      rows.draw();
    };
    const self = { element: make("div", {}, bar, rows.element, count), rows, clear, all, refresh: () => {
      chosen.clear();
      show();
      return rows.refresh();
    } };
    return self;
  };

  const childrenOf = (id, more = "") => `SELECT * FROM Document WHERE ecm:parentId = ${Docs.quoted(id)} AND ecm:mixinType != 'HiddenInNavigation' AND ecm:isVersion = 0${more}`;

  // folder lets somebody choose a folder, beginning at one.
  const folder = (start, title, action, filter = "AND ecm:mixinType = 'Folderish'") => {
    let now = start;
    const where = make("p", { class: "soft small", role: "status" });
    const box = make("div", { class: "folders" });
    const show = async (d) => {
      now = await Docs.ask(d, "", { "enrichers-document": "breadcrumb" });
      where.textContent = `${action} ${now.path}`;
      const page = await Docs.query(now.repository, `${childrenOf(now.uid)} AND ecm:isTrashed = 0 ${filter} ORDER BY dc:title`, { size: 200 })();
      const step = (to, name, up) => make("li", {}, make("button", { type: "button", class: "quiet", onclick: tried(async () => {
        await show(to);
        box.querySelector("button")?.focus();
      }) }, up ? "↑ " : "", name));
      const above = (now.contextParameters.breadcrumb?.entries || []).filter((x) => x.uid !== now.uid).pop();
      box.replaceChildren(make("ul", { class: "list", "aria-label": "Folders" }, ...(above ? [step(above, `Up to ${Docs.title(above)}`, true)] : []), ...page.entries.map((x) => step(x, Docs.title(x))),
        ...(page.entries.length ? [] : [make("li", { class: "soft" }, "No folders in here.")])));
    };
    return show(start).then(() => Dialogs.open({ title, action, body: [where, box], act: async () => now }));
  };

  return { of, folder, childrenOf, sign };
})();
