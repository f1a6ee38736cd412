// What people attach to a document: comments, tags, collections, relations, subscriptions and publications.
"use strict";
const DocTalk = (() => {
  const { op, ask, may, has, title, link } = Docs;
  const section = (name, ...children) => make("section", { class: "panel", "aria-label": name }, make("h2", {}, name), ...children);
  const remove = (label, act) => make("button", { type: "button", class: "quiet danger", "aria-label": label, onclick: tried(act) }, "Remove");

  const comments = async (d) => {
    const again = () => Docs.redrawn(byId("comments"), () => comments(d));
    const { entries } = await ask(d, "/@comment?pageSize=100");
    const text = make("textarea", { rows: 2, name: "text", required: true });
    const own = (c) => c.author === site.user || c.permissions?.includes("Everything");
    const item = (c) => make("li", { "data-comment": c.id }, make("div", {}, make("strong", {}, c.author), make("span", { class: "soft small" }, " ", ago(c.creationDate), c.modificationDate ? ", changed" : ""), make("p", { class: "whole" }, c.text)),
      ...(own(c) ? [make("button", { type: "button", class: "quiet", "aria-label": `Edit the comment of ${c.author}`, onclick: tried(async () => {
        const form = Form.of([{ name: "text", label: "Comment", kind: "text", lines: 4, required: true }], c);
        if (await Dialogs.open({ title: "Edit the comment", action: "Save", body: [form.element], act: async () => call("PUT", `${Docs.at(d)}/@comment/${c.id}`, { "entity-type": "comment", id: c.id, parentId: c.parentId, ...form.value() }) })) await again();
      }) }, "Edit"), remove(`Remove the comment of ${c.author}`, async () => {
        if (!await Dialogs.confirm("Remove a comment", "Remove this comment?", "Remove")) return;
        await call("DELETE", `${Docs.at(d)}/@comment/${c.id}`);
        await again();
      })] : []));
    byId("comments").replaceChildren(section("Comments",
      make("ul", { class: "list", "aria-label": "Comments" }, ...(entries.length ? entries.map(item) : [make("li", { class: "soft" }, "No comments yet.")])),
      has(d, "Commentable") && may(d, "Comment", "Write", "Read") && !d.isTrashed ? make("form", { onsubmit: tried(async (e) => {
        e.preventDefault();
        await call("POST", `${Docs.at(d)}/@comment`, { "entity-type": "comment", parentId: d.uid, text: text.value });
        await again();
      }) }, make("label", {}, "Comment", text), make("button", {}, "Add comment")) : null));
  };

  const tags = (d, again) => {
    const form = Form.of([{ name: "tags", kind: "text", list: true, pick: "tag", doc: "Commas or Enter separate tags." }], { tags: d.contextParameters.tags });
    return section("Tags", make("form", { onsubmit: tried(async (e) => {
      e.preventDefault();
      const now = (form.value().tags || []).flatMap((t) => t.split(",")).map((t) => t.trim()).filter(Boolean);
      const before = d.contextParameters.tags;
      const added = now.filter((t) => !before.includes(t));
      const gone = before.filter((t) => !now.includes(t));
      if (added.length) await op(d, "Services.TagDocument", { tags: added });
      if (gone.length) await op(d, "Services.UntagDocument", { tags: gone });
      await again();
    }) }, form.element, make("button", {}, "Save tags")));
  };

  const collections = (d, again) => section("Collections",
    make("ul", { class: "list", "aria-label": "Collections" }, ...(d.contextParameters.collections.length ? d.contextParameters.collections.map((c) => make("li", {}, make("div", {}, make("a", { href: link(c) }, title(c))),
      remove(`Remove from ${title(c)}`, async () => (await op(d, "Collection.RemoveFromCollection", { collection: c.uid }), again())))) : [make("li", { class: "soft" }, "In no collection.")])),
    make("button", { type: "button", "aria-pressed": String(d.contextParameters.favorites.isFavorite), onclick: tried(async () => (await op(d, d.contextParameters.favorites.isFavorite ? "Document.RemoveFromFavorites" : "Document.AddToFavorites"), again())) }, "Favorite"));

  const predicates = [["http://purl.org/dc/terms/IsBasedOn", "is based on"], ["http://purl.org/dc/terms/References", "refers to"], ["http://purl.org/dc/terms/Requires", "requires"], ["http://purl.org/dc/terms/Replaces", "replaces"], ["http://purl.org/dc/terms/ConformsTo", "conforms to"]];
  const relations = async (d, again) => {
    const all = (await Promise.all(predicates.flatMap(([predicate, text]) => [true, false].map(async (outgoing) => (await op(d, "Document.GetLinkedDocuments", { predicate, outgoing })).entries.map((x) => ({ x, predicate, text, outgoing })))))).flat();
    const form = Form.of([{ name: "predicate", label: "This document", kind: "choice", required: true, values: predicates }, { name: "object", label: "Document", kind: "text", pick: "document", required: true, doc: "The beginning of its title, its path or its id." }]);
    return section("Relations", make("ul", { class: "list", "aria-label": "Relations" }, ...(all.length ? all.map(({ x, predicate, text, outgoing }) => make("li", {},
      make("div", {}, outgoing ? `${text} ` : "", make("a", { href: link(x) }, title(x)), outgoing ? "" : ` ${text} this document`),
      may(d, "WriteProperties", "Write") ? remove(`Remove the relation to ${title(x)}`, async () => (await op(d, "Document.DeleteRelation", { predicate, object: x.uid, outgoing }), again())) : null)) : [make("li", { class: "soft" }, "No relations.")])),
    make("button", { type: "button", onclick: tried(async () => {
      if (await Dialogs.open({ title: "Add a relation", action: "Add", body: [form.element], act: async () => {
        try {
          await op(d, "Document.AddRelation", { ...form.value(), outgoing: true });
        } catch (error) {
          const known = { notfound: "There is no such document, or you may not read it.", exists: "This document has that relation to it already." }[error.code];
          if (!known && !form.fail(error)) throw error;
          if (known) form.field("object").say(known).focus();
          return false;
        }
        return true;
      } })) await again();
    }) }, "Add a relation"));
  };

  const kinds = "Approval,Comment,Creation,Modification,Move,Publication,Removal,Workflow Change".split(",");
  const subscriptions = (d, again) => {
    const now = d.contextParameters.subscribedNotifications;
    const boxes = kinds.map((k) => make("input", { type: "checkbox", value: k, checked: now.includes(k) }));
    return section("Notifications", make("form", { onsubmit: tried(async (e) => {
      e.preventDefault();
      const chosen = boxes.filter((b) => b.checked).map((b) => b.value);
      const [more, less] = [chosen.filter((k) => !now.includes(k)), now.filter((k) => !chosen.includes(k))];
      if (more.length) await op(d, "Document.Subscribe", { notifications: more });
      if (less.length) await op(d, "Document.Unsubscribe", { notifications: less });
      await again();
    }) }, make("fieldset", {}, make("legend", {}, "Tell me by mail about"), make("div", { class: "checks" }, ...boxes.map((b) => make("label", { class: "check" }, b, Form.words(b.value))))), make("button", {}, "Save notifications")));
  };

  const publications = async (d, again) => {
    if (!has(d, "Publishable") || d.isProxy) return null;
    const { entries } = await Docs.query(d.repository, `SELECT * FROM Document WHERE ecm:isProxy = 1 AND ecm:proxyVersionableId = ${Docs.quoted(d.isVersion ? d.versionableId : d.uid)} AND ecm:isTrashed = 0`)();
    return section("Publications", make("ul", { class: "list", "aria-label": "Publications" }, ...(entries.length ? entries.map((p) => make("li", {}, make("div", {}, make("a", { href: link(p) }, p.path)),
      remove(`Remove the publication ${p.path}`, async () => {
        if (!await Dialogs.confirm("Remove a publication", `Remove ${title(d)} from ${p.path}?`, "Remove")) return;
        await op(p, "Document.Delete");
        await again();
      }))) : [make("li", { class: "soft" }, "Not published.")])));
  };

  // links shows all but the comments; it asks again for the document after each change.
  const links = async (d) => {
    const again = () => Docs.redrawn(byId("links"), async () => links(await Docs.read(d)));
    const parts = [has(d, "NXTag") || d.contextParameters.tags.length ? tags(d, again) : null, has(d, "NotCollectionMember") ? null : collections(d, again), subscriptions(d, again)];
    const later = await Promise.all([relations(d, again), publications(d, again)]);
    byId("links").replaceChildren(...[...parts, ...later].filter(Boolean));
  };

  return { comments, links };
})();
