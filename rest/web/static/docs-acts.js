// What can be done to documents: one table for the document of the page and for selections. An act shows where the
// permissions that the server gave permit it; the server checks again.
"use strict";
const DocActs = (() => {
  const { may, has, op, title } = Docs;
  const plural = (docs) => (docs.length === 1 ? title(docs[0]) : `${docs.length} documents`);
  const parentOf = (d) => ({ repository: d.repository, uid: d.parentRef });

  const copyTo = async (docs) => {
    const to = await DocList.folder(parentOf(docs[0]), `Copy ${plural(docs)}`, "Copy to");
    if (!to) return false;
    return op(docs, "Document.Copy", { target: to.uid });
  };
  const moveTo = async (docs) => {
    const to = await DocList.folder(parentOf(docs[0]), `Move ${plural(docs)}`, "Move to");
    if (!to) return false;
    return op(docs, "Document.Move", { target: to.uid });
  };

  const rename = (d) => {
    const name = d.path.split("/").pop();
    const form = Form.of([{ name: "title", kind: "text", required: true }, { name: "name", label: "Name in the path", kind: "text", required: true, doc: "Links by path change; links by id stay." }], { title: d.title, name });
    return Dialogs.open({ title: `Rename ${title(d)}`, action: "Rename", body: [form.element], act: async () => {
      const v = form.value();
      if (v.title !== d.title) await Docs.save(d, { "dc:title": v.title });
      if (v.name !== name) await op(d, "Document.Move", { target: d.parentRef, name: v.name });
      return true;
    } });
  };

  const collect = async (docs) => {
    const found = await run("Collection.Suggestion", { searchTerm: "" });
    const known = found.filter((c) => c.id && !String(c.id).startsWith("-999999"));
    const form = Form.of([{ name: "collection", kind: "choice", values: known.map((c) => [c.id, c.displayLabel]) }, { name: "name", label: "Or name of a new collection", kind: "text" }]);
    return Dialogs.open({ title: `Add ${plural(docs)} to a collection`, action: "Add", body: [form.element], act: async () => {
      const v = form.value();
      if (!v.name && !v.collection) throw new Error("Choose a collection, or name a new one.");
      const id = v.name ? (await run("Collection.Create", { name: v.name })).uid : v.collection;
      await op(docs, "Document.AddToCollection", { collection: id });
      return true;
    } });
  };

  const publish = async (d) => {
    const page = await Docs.query(d.repository, "SELECT * FROM Document WHERE ecm:mixinType = 'PublishSpace' AND ecm:isTrashed = 0 ORDER BY ecm:path", { size: 200 })();
    const kinds = (d.contextParameters.renditions || []).map((r) => r.name).filter((n) => n === "pdf");
    if (!page.entries.length) return void await Dialogs.open({ title: `Publish ${title(d)}`, action: "", cancel: "Close", body: [make("p", {}, "There is no section that you may see. Sections are folders of the type Section, in the folder Sections of a domain.")] });
    const form = Form.of([{ name: "target", label: "Section", kind: "choice", required: true, values: page.entries.map((s) => [s.uid, `${title(s)} (${s.path})`]) }, { name: "renditionName", label: "As", kind: "choice", values: kinds.map((k) => [k, k.toUpperCase()]), none: "the document itself" }], page.entries.length === 1 ? { target: page.entries[0].uid } : {});
    return Dialogs.open({ title: `Publish ${title(d)}`, action: "Publish", body: [make("p", { class: "soft" }, "A copy that cannot be changed appears in the section."), form.element], act: async () => {
      await op(d, "Document.PublishToSection", form.value());
      return true;
    } });
  };

  const version = (d) => {
    const form = Form.of([{ name: "version", label: "Number", kind: "choice", values: [["minor", "minor"], ["major", "major"]], required: true }, { name: "comment", kind: "text" }], { version: "minor" });
    return Dialogs.open({ title: `New version of ${title(d)}`, action: "Create version", body: [form.element], act: async () => {
      await op(d, "Document.CheckIn", form.value());
      return true;
    } });
  };

  // retain asks until when a document is to be kept, of a record that has a date only for a later one.
  const retain = (d) => {
    const form = Form.of([{ name: "until", label: "Keep until", kind: "date", doc: "Without a date, until somebody sets one. A date can only be replaced by a later one." }], {});
    return Dialogs.open({ title: `Retain ${title(d)}`, action: "Retain", body: [make("p", { class: "soft" }, "Until then nobody can change or delete it, not even an administrator."), form.element], act: async () => {
      await op(d, "Document.Retain", form.value());
      return true;
    } });
  };
  const hold = (d) => {
    const form = Form.of([{ name: "description", label: "Reason", kind: "text" }], {});
    return Dialogs.open({ title: `Legal hold on ${title(d)}`, action: "Hold", body: [make("p", { class: "soft" }, "As long as it has a legal hold, nobody can change or delete it."), form.element], act: async () => {
      await op(d, "Document.Hold", form.value());
      return true;
    } });
  };
  const record = async (d) => await Dialogs.confirm("Make a record", `Make ${title(d)} a record? Its files can never be changed again.`, "Make a record") && op(d, "Document.MakeRecord");

  const after = (docs, done) => done.then(() => (docs.length === 1 ? docs[0] : docs));
  const trash = async (docs) => await Dialogs.confirm("Move to the trash", `Move ${plural(docs)} to the trash, with everything below?`, "Move to the trash") && after(docs, op(docs, "Document.Trash"));
  const erase = async (docs) => await Dialogs.confirm("Delete permanently", `Delete ${plural(docs)} permanently, with everything below? Nothing brings it back.`, "Delete") && after(docs, op(docs, "Document.Delete"));

  // acts are [label, when it shows, what it does, kind]. What they return false from changed nothing.
  const one = [
    ["Edit", (d) => !d.isTrashed && !d.isVersion && !d.isUnderRetentionOrLegalHold && may(d, "WriteProperties") && free(d), (d) => DocEdit.edit(d), "primary"],
    ["New", (d) => !d.isTrashed && may(d, "AddChildren") && DocEdit.types(d).length > 0, (d) => DocEdit.create(d), "primary"],
    ["Upload", (d) => !d.isTrashed && may(d, "AddChildren") && has(d, "Folderish") && DocEdit.types(d).includes("File"), () => byId("upload").click()],
    ["Rename", (d) => !d.isTrashed && !d.isVersion && d.parentRef && !d.isUnderRetentionOrLegalHold && may(d, "WriteProperties") && free(d), rename],
    ["Copy", (d) => !d.isTrashed && !d.isVersion && d.path !== "/", (d) => copyTo([d])],
    ["Move", (d) => !d.isTrashed && !d.isVersion && may(d, "Remove") && d.path !== "/" && free(d), (d) => moveTo([d])],
    ["Lock", (d) => !d.isTrashed && !d.isVersion && !d.lockOwner && !has(d, "Folderish") && may(d, "Write", "WriteProperties"), (d) => op(d, "Document.Lock")],
    ["Unlock", (d) => d.lockOwner && (d.lockOwner === site.user || may(d, "Unlock")), (d) => op(d, "Document.Unlock")],
    ["Create version", (d) => !d.isTrashed && !d.isVersion && has(d, "Versionable") && may(d, "WriteVersion", "Version") && free(d), version],
    ["Publish", (d) => !d.isTrashed && !d.isVersion && !d.isProxy && has(d, "Publishable") && may(d, "CanAskForPublishing", "Write"), publish],
    ["Add to collection", (d) => !d.isTrashed && !has(d, "NotCollectionMember"), (d) => collect([d])],
    ["Download ZIP", (d) => !d.isTrashed && (has(d, "Folderish") || has(d, "Collection")), (d) => Docs.download(d, "Document.GetContainerRendition", {}, `${title(d)}.zip`).then(() => false)],
    ["Make a record", (d) => !d.isTrashed && !d.isProxy && !d.isRecord && !has(d, "Folderish") && may(d, "MakeRecord"), record],
    ["Retain", (d) => !d.isTrashed && !d.isProxy && !has(d, "Folderish") && may(d, "SetRetention") && (d.isRecord || may(d, "MakeRecord")), retain],
    ["Legal hold", (d) => !d.isTrashed && !d.isProxy && !d.hasLegalHold && !has(d, "Folderish") && may(d, "ManageLegalHold") && (d.isRecord || may(d, "MakeRecord")), hold],
    ["Remove legal hold", (d) => d.hasLegalHold && !d.isProxy && may(d, "ManageLegalHold"), (d) => op(d, "Document.Unhold")],
    ["Export CSV", (d) => !d.isTrashed && has(d, "Folderish"), (d) => DocTables.ofFolder(d)],
    ["Import CSV", (d) => !d.isTrashed && !d.isVersion && has(d, "Folderish") && may(d, "AddChildren") && DocEdit.types(d).length > 0, (d) => DocTables.upload(d)],
    ["Move to trash", (d) => !d.isTrashed && !d.isVersion && d.path !== "/" && may(d, "Remove") && !d.isUnderRetentionOrLegalHold && free(d), (d) => trash([d]), "danger"],
    ["Restore", (d) => d.isTrashed && may(d, "Remove", "Write"), (d) => op(d, "Document.Untrash"), "primary"],
    ["Delete permanently", (d) => d.isTrashed && may(d, "Remove"), (d) => erase([d]), "danger"],
  ];
  const free = (d) => !d.lockOwner || d.lockOwner === site.user;

  const many = [
    ["Edit", (docs) => DocEdit.bulk(docs)],
    ["Copy", copyTo],
    ["Move", moveTo],
    ["Add to collection", collect],
    ["Download ZIP", (docs) => Docs.download(docs, "Blob.BulkDownload", { filename: "documents.zip" }, "documents.zip").then(() => false)],
    ["Export CSV", DocTables.ofMany],
    ["Move to trash", trash, "danger"],
  ];
  const binned = [["Restore", (docs) => op(docs, "Document.Untrash")], ["Delete permanently", erase, "danger"]];

  const button = ([label, act, kind = ""], told) => make("button", { type: "button", class: kind === "primary" ? "primary" : kind ? "quiet danger" : "quiet", onclick: tried(async () => {
    const out = await act();
    if (out !== false && out !== undefined) await told(label, out);
  }) }, label);

  // of are the buttons of a document; told is called with what was done and its result.
  const of = (d, told) => one.filter(([, when]) => when(d)).map(([label, , act, kind]) => button([label, () => act(d), kind], told));
  // ofMany are those of a selection.
  const ofMany = (docs, told, inTrash) => (inTrash ? binned : many).map(([label, act, kind]) => button([label, () => act(docs), kind], told));

  return { of, ofMany };
})();
