// Forms of documents: create, edit, and what to do when somebody else changed the document meanwhile.
"use strict";
const DocEdit = (() => {
  // What the server keeps itself is not entered.
  const kept = /^(dc:(created|modified|creator|contributors|lastContributor|publisher)|common:.*|uid:.*|nxtag:.*|relatedtext:.*|thumb:.*|picture:(views|info)|vid:.*|note:mime_type|collection.*|coldstorage:.*|rend:.*|publish:.*|webc:.*|wcm.*)$/;
  const first = ["dc:title", "dc:description"];

  // fields are those of a type or of a document: what names it first, then its own schemas, and the rest folded.
  const fields = async (names) => {
    const all = await Docs.allSchemas();
    const out = names.flatMap((n) => Form.ofSchema(all.get(n)?.prefix || n, all.get(n))).filter((f) => !kept.test(f.name));
    const place = (f) => (first.includes(f.name) ? first.indexOf(f.name) : f.name.startsWith("dc:") ? 3 : 2);
    return out.map((f) => ({ ...f, folded: place(f) === 3 && !f.required })).sort((a, b) => place(a) - place(b));
  };

  const types = (d) => (d.contextParameters.subtypes || []).filter((t) => !t.facets.includes("HiddenInCreation")).map((t) => t.type).sort();

  // create asks for the type, then for what documents of it have.
  const create = (folder) => {
    const box = make("div");
    let form = null;
    const entered = {};
    const usual = types(folder);
    const select = make("select", {}, ...usual.map((t) => make("option", { value: t }, Form.words(t))));
    const name = make("input", { autocomplete: "off", placeholder: "made from the title" });
    const show = async () => {
      const type = select.value;
      const wanted = await fields(await Docs.schemasOf(type));
      if (type !== select.value) return;
      // What was entered for another type, also while this answer was on its way, stays, and so does the focus.
      Object.assign(entered, form?.entered());
      const held = box.contains(document.activeElement) ? document.activeElement : null;
      const caret = held?.selectionStart;
      form = Form.of(wanted, entered, { folded: "More properties" });
      box.replaceChildren(form.element);
      const now = held?.name && box.querySelector(`[name="${CSS.escape(held.name)}"]`);
      now?.focus();
      if (now && typeof caret === "number") now.setSelectionRange?.(caret, caret);
    };
    select.addEventListener("change", tried(show, false));
    tried(show)();
    return Dialogs.open({
      title: "New document", action: "Create", wide: true,
      body: [make("label", {}, "Type", select), box, make("details", {}, make("summary", {}, "Name in the path"), make("label", {}, "Name", name))],
      act: async () => {
        if (!form) return false;
        const values = form.value();
        try {
          return await Docs.create(folder, select.value, name.value.trim() || String(values["dc:title"] || select.value).replaceAll("/", "-").slice(0, 60), await Docs.blobs(values));
        } catch (error) {
          form.fail(error);
          throw error;
        }
      },
    });
  };

  const text = (v) => (v === null || v === undefined || v === "" ? "nothing" : Array.isArray(v) && v.every((x) => typeof x !== "object") ? v.join(", ") || "nothing" : v instanceof File ? v.name : Docs.filesIn(v).length === 1 && v.name ? v.name : typeof v === "object" ? JSON.stringify(v) : String(v));

  // settle shows what both changed. It resolves to the values to store, or to undefined.
  const settle = (mine, base, theirs) => {
    const changed = Object.keys(theirs.properties).filter((name) => !kept.test(name) && !Form.same(theirs.properties[name], base.properties[name]));
    const both = Object.keys(mine).filter((name) => changed.includes(name));
    const row = (name) => {
      const option = (value, whose, checked) => make("td", {}, make("label", { class: "check" }, make("input", { type: "radio", name, value: whose, checked }), text(value)));
      if (both.includes(name)) return make("tr", { class: "differs" }, make("th", { scope: "row" }, Form.words(name)), option(mine[name], "mine", true), option(theirs.properties[name], "theirs"));
      return make("tr", {}, make("th", { scope: "row" }, Form.words(name)), make("td", {}, name in mine ? text(mine[name]) : "not changed"), make("td", {}, name in mine ? "not changed" : text(theirs.properties[name])));
    };
    return Dialogs.open({
      title: "Changed by somebody else", action: "Save", wide: true, cancel: "Back to the form",
      body: [make("p", {}, `${theirs.properties["dc:lastContributor"] || "Somebody"} changed this document after you opened it. Nothing of yours is saved yet. `,
        both.length ? "Where you both changed a property, choose which value to keep." : "You changed different properties; saving keeps both."),
      make("div", { class: "scroll" }, make("table", {}, make("caption", { class: "only-read" }, "Changes"),
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Property"), make("th", { scope: "col" }, "Yours"), make("th", { scope: "col" }, "Theirs"))),
        make("tbody", {}, ...[...new Set([...both, ...Object.keys(mine), ...changed])].map(row))))],
      act: async (f) => Object.fromEntries(Object.entries(mine).filter(([name]) => !both.includes(name) || new FormData(f).get(name) === "mine")),
    });
  };

  // store saves changes; a change of somebody else in between is shown and settled first. Tokens also change when, for
  // example, a tag is added: then nothing of the properties differs, and nobody is asked.
  const store = async (d, values) => {
    try {
      return await Docs.save(d, values);
    } catch (error) {
      if (error.status !== 409) throw error;
      const now = await Docs.read(d, "");
      if (now.changeToken === d.changeToken) throw error; // refused for another reason, such as a lock
      const differs = Object.keys(now.properties).some((name) => !kept.test(name) && !Form.same(now.properties[name], d.properties[name]));
      const settled = differs ? await settle(values, d, now) : values;
      if (!settled) return false;
      return Object.keys(settled).length ? store(now, settled) : now;
    }
  };

  // edit shows a document as it is now: the page may be older.
  const edit = async (shown) => {
    const d = await Docs.read(shown, "");
    const form = Form.of(await fields(d.schemas.map((s) => s.name)), d.properties, { folded: "More properties" });
    return Dialogs.open({
      title: `Edit ${Docs.title(d)}`, action: "Save", wide: true, body: [form.element],
      act: async () => {
        const values = form.changed();
        if (!Object.keys(values).length) return d;
        try {
          return await store(d, await Docs.blobs(values));
        } catch (error) {
          form.fail(error);
          throw error;
        }
      },
    });
  };

  // bulk edits one property or several of many documents: only fields that are filled in are changed.
  const bulk = async (docs) => {
    const names = docs.map((d) => d.schemas.map((s) => s.name)).reduce((a, b) => a.filter((n) => b.includes(n)));
    const all = (await fields(names)).filter((f) => f.kind !== "blob" && f.kind !== "complex").map((f) => ({ ...f, required: false }));
    const form = Form.of(all, {}, { folded: "More properties" });
    return Dialogs.open({
      title: `Edit ${docs.length} documents`, action: "Save", wide: true, body: [make("p", { class: "soft" }, "Fields that you fill in replace the values of all of them; the others stay as they are."), form.element],
      act: async () => {
        const properties = form.changed();
        if (!Object.keys(properties).length) throw new Error("Fill in at least one field.");
        try {
          await Docs.op(docs, "Document.Update", { properties, save: true });
        } catch (error) {
          form.fail(error);
          throw error;
        }
        return true;
      },
    });
  };

  return { create, edit, bulk, types, text, kept };
})();
