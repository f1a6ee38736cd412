// The console's page of documents: what one is and holds, and what can be done to it. Its address ends with the document's
// repository and id, and after a slash the tab.
"use strict";
(() => {
  let shown = null;
  let tab = "";
  let trash = false;
  let news = ""; // what was done, for the next view of a document
  const filled = new Set(); // tabs that show the document as it is
  let turn = 0; // an answer about a document that was left meanwhile is dropped
  let last = Promise.resolve();
  const inTurn = (f) => (last = last.catch(() => {}).then(f)); // what is slow to draw does not draw over what came after it

  const named = async () => {
    const parts = location.hash.slice(1).split("/").filter(Boolean).map(decodeURIComponent);
    const uid = parts.length > 1 ? parts[1] : parts[0];
    const d = parts.length > 1 ? { repository: parts[0], uid } : await Docs.find(uid || "");
    return Docs.read(d);
  };

  const text = (v) => {
    if (typeof v === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(v)) return new Date(v).toLocaleString();
    if (Array.isArray(v) && v.every((one) => typeof one !== "object")) return v.join(", ");
    return typeof v === "object" ? JSON.stringify(v) : String(v);
  };
  const isSet = ([, v]) => v !== null && v !== "" && !(Array.isArray(v) && !v.length) && !Docs.filesIn(v).length;

  const list = DocList.of({
    label: "Content", empty: "Nothing here.", acts: (docs) => DocActs.ofMany(docs, done, trash),
    load: (after) => {
      const [by, order] = byId("sort").value.split(" ");
      return Docs.query(shown.repository, `${DocList.childrenOf(shown.uid)} AND ecm:isTrashed = ${trash ? 1 : 0} ORDER BY ${by} ${order}`)(after);
    },
  });
  byId("children").append(list.element);

  // says tells what was done.
  const says = { New: "Created.", Edit: "Saved.", Rename: "Renamed.", Copy: "Copied.", Move: "Moved.", Lock: "Locked.", Unlock: "Unlocked.", "Create version": "Version created.", Publish: "Published.", "Move to trash": "Moved to the trash.", Restore: "Restored.", "Delete permanently": "Deleted.", "Add to collection": "Added.", "Import CSV": "Imported.", "Make a record": "Made a record.", Retain: "Retained.", "Legal hold": "Legal hold set.", "Remove legal hold": "Legal hold removed." };
  const done = async (label, out) => {
    news = says[label] || "Done.";
    const gone = label === "Delete permanently" || label === "Move to trash";
    if (label === "New") location.hash = Docs.link(out).split("#")[1];
    else if (gone && out?.uid === shown.uid && shown.parentRef) location.hash = `${encodeURIComponent(shown.repository)}/${shown.parentRef}`;
    else {
      await show();
      // What was pressed was drawn again, or is gone.
      if (document.activeElement === document.body) ([...byId("acts").children].find((b) => b.textContent === label) || byId("title")).focus();
    }
  };

  const tabs = [
    ["content", "Content", (d) => d.facets?.includes("Folderish") || d.facets?.includes("Collection"), () => list.refresh()],
    ["details", "Details", () => true, (d) => DocFiles.preview(d)],
    ["versions", "Versions", (d) => d.facets?.includes("Versionable"), (d) => DocHistory.versions(d, done)],
    ["access", "Permissions", (d) => Docs.may(d, "ReadSecurity", "WriteSecurity", "Read"), (d) => DocAccess.show(d)],
    ["comments", "Comments", (d) => d.facets?.includes("Commentable"), (d) => DocTalk.comments(d)],
    ["links", "Tags and links", (d) => !d.isVersion && d.path !== "/", (d) => DocTalk.links(d)],
    ["history", "History", () => true, (d) => DocHistory.history(d)],
  ];

  const open = async (id) => {
    tab = id;
    for (const [name] of tabs) byId(name).hidden = name !== id;
    await inTurn(() => {
      if (filled.has(id)) return undefined;
      filled.add(id);
      return tabs.find(([name]) => name === id)[3](shown);
    });
  };

  const show = async () => {
    const mine = ++turn;
    const d = await named().catch((error) => {
      if (mine === turn) throw error;
    });
    if (mine === turn) await inTurn(() => mine === turn && draw(d));
    if (mine !== turn) return;
    const usable = tabs.filter(([, , when]) => when(shown));
    const choose = Tabs.of(byId("tabs"), usable, open);
    await choose(usable.some(([id]) => id === tab) ? tab : usable[0][0]);
  };

  const draw = async (d) => {
    shown = d;
    filled.clear();
    byId("done").textContent = news;
    byId("done").hidden = !news;
    news = "";
    const above = (shown.contextParameters?.breadcrumb?.entries || []).filter((d) => d.uid !== shown.uid);
    byId("crumbs").replaceChildren(...above.map((d) => make("li", {}, make("a", { href: Docs.link(d) }, Docs.title(d)))));
    byId("title").textContent = Docs.title(shown);
    byId("about").replaceChildren([Form.words(shown.type), shown.path, shown.state && shown.state !== "project" ? shown.state : "", shown.isVersion ? `version ${shown.versionLabel || ""}` : "", shown.isTrashed ? "in the trash" : "", shown.lockOwner ? `locked by ${shown.lockOwner}` : "", shown.isRecord ? "record" : "", shown.hasLegalHold ? "legal hold" : "", shown.retainUntil && shown.isUnderRetentionOrLegalHold ? (shown.retainUntil.startsWith("9999") ? "retained" : `retained until ${new Date(shown.retainUntil).toLocaleString()}`) : ""].filter(Boolean).join(" · "));
    byId("acts").replaceChildren(...DocActs.of(shown, done));
    DocFiles.files(shown);
    const rows = Object.entries(shown.properties).filter(isSet).sort(([a], [b]) => (a < b ? -1 : 1));
    byId("properties").hidden = !rows.length;
    byId("properties").querySelector("tbody").replaceChildren(...rows.map(([name, v]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "whole" }, text(v)))));
    await Workflows.show(shown);
  };

  byId("sort").addEventListener("change", tried(() => list.refresh(), false));
  byId("binned").addEventListener("change", tried(async () => {
    trash = byId("binned").checked;
    await list.refresh();
  }, false));
  byId("all").addEventListener("click", () => list.all());
  DocFiles.accept(byId("main"), () => (shown && !shown.isTrashed && Docs.may(shown, "AddChildren") && shown.facets?.includes("Folderish") ? shown : null), () => list.refresh());
  window.addEventListener("hashchange", tried(async () => {
    tab = "";
    trash = byId("binned").checked = false; // what another folder has is asked for first
    await show();
    byId("title").focus();
  }, false));
  tried(show)();
})();
