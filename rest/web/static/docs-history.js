// Versions of a document, compared and restored, and its history from the audit log.
"use strict";
const DocHistory = (() => {
  const { op, may, title } = Docs;
  const label = (v) => v.versionLabel || `${v.properties["uid:major_version"]}.${v.properties["uid:minor_version"]}`;

  // compare shows where the properties of two states differ.
  const compare = (a, b) => {
    const names = [...new Set([...Object.keys(a.properties), ...Object.keys(b.properties)])].filter((n) => !/^(uid:|dc:(modified|lastContributor|contributors)$)/.test(n) && !Form.same(a.properties[n], b.properties[n])).sort();
    const said = (d) => (d.isVersion ? `Version ${label(d)}` : "Now");
    return Dialogs.open({ title: `${title(b)}: ${said(a)} and ${said(b)}`, action: "", cancel: "Close", wide: true, body: [names.length ? make("div", { class: "scroll" }, make("table", {}, make("caption", { class: "only-read" }, "Properties that differ"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Property"), make("th", { scope: "col" }, said(a)), make("th", { scope: "col" }, said(b)))),
      make("tbody", {}, ...names.map((n) => make("tr", {}, make("th", { scope: "row" }, n), make("td", { class: "whole" }, DocEdit.text(a.properties[n])), make("td", { class: "whole" }, DocEdit.text(b.properties[n]))))))) : make("p", {}, "No property differs.")] });
  };

  const versions = async (d, after) => {
    const box = byId("versions");
    const live = d.isVersion ? await Docs.read({ repository: d.repository, uid: d.versionableId }) : d;
    const all = (await op(live, "Document.GetVersions", {}, { properties: "*", "fetch-document": "versionLabel" })).entries.reverse();
    const named = (v) => make("option", { value: v.uid }, v.isVersion ? `Version ${label(v)}` : "Now");
    const [from, to] = [make("select", { "aria-label": "Compare" }, ...all.map(named)), make("select", { "aria-label": "with" }, named(live), ...all.map(named))];
    const of = (uid) => [live, ...all].find((v) => v.uid === uid);
    box.replaceChildren(make("div", { class: "panel" }, make("h2", {}, "Versions"),
      all.length ? make("ul", { class: "list", "aria-label": "Versions" }, ...all.map((v) => make("li", { "data-version": label(v) },
        make("div", {}, make("a", { href: Docs.link(v) }, `Version ${label(v)}`), make("p", {}, `${v.properties["dc:lastContributor"] || ""} · `, ago(v.lastModified))),
        make("button", { type: "button", class: "quiet", "aria-label": `Compare version ${label(v)} with now`, onclick: tried(() => compare(v, live)) }, "Compare"),
        may(live, "WriteVersion", "Version", "Write") && !live.lockOwner ? make("button", { type: "button", class: "quiet", "aria-label": `Restore version ${label(v)}`, onclick: tried(async () => {
          if (!await Dialogs.confirm("Restore a version", `Replace the present state of ${title(live)} by version ${label(v)}? The present state is kept as a version if it has changed.`, "Restore", false)) return;
          await op(v, "Document.RestoreVersion", { createVersion: true });
          await after("Restore", live);
        }) }, "Restore") : null))) : make("p", { class: "soft" }, "No versions yet."),
      all.length > 1 ? make("form", { class: "row", onsubmit: tried((e) => (e.preventDefault(), compare(of(from.value), of(to.value)))) }, make("label", {}, "Compare", from), make("label", {}, "with", to), make("button", {}, "Compare")) : null));
  };

  const events = { documentCreated: "Created", documentModified: "Changed", documentLocked: "Locked", documentUnlocked: "Unlocked", documentTrashed: "Moved to the trash", documentUntrashed: "Restored from the trash", documentMoved: "Moved", documentCreatedByCopy: "Created as a copy", documentCheckedIn: "Version created", documentSecurityUpdated: "Permissions changed", documentPublished: "Published", commentAdded: "Comment added", commentRemoved: "Comment removed", lifecycle_transition_event: "State changed", download: "Downloaded", documentRestored: "Version restored", addedToCollection: "Added to a collection", documentTagUpdated: "Tags changed", versionRemoved: "Version removed", afterMakeRecord: "Made a record", afterSetRetention: "Retention set", afterExtendRetention: "Retention extended", retentionExpired: "Retention ended", afterSetLegalHold: "Legal hold set", afterRemoveLegalHold: "Legal hold removed" };
  const history = async (d) => {
    let page = 0;
    const rows = Rows.list({
      label: "History", empty: "Nothing is recorded.", height: 56,
      load: async () => {
        const a = await Docs.ask(d, `/@audit?pageSize=50&currentPageIndex=${page++}`);
        return { entries: a.entries, next: a.isNextPageAvailable ? String(page) : undefined, total: a.resultsCount };
      },
      fill: (e) => [make("span", { class: "what" }, make("span", {}, events[e.eventId] || Form.words(e.eventId)), make("span", { class: "soft small" }, [e.principalName, e.comment, e.extended?.text].filter(Boolean).join(" · "))), make("span", { class: "soft small when" }, new Date(e.eventDate).toLocaleString())],
    });
    byId("history").replaceChildren(make("div", { class: "panel" }, make("h2", {}, "History"), rows.element));
    await rows.refresh();
  };

  return { versions, history };
})();
