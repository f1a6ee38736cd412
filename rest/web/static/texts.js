// Texts that are deployed in versions: listeners, schedules, hooks, types, templates and so on. A list with the state of each, and an editor that checks
// while somebody writes, with versions that can be compared and restored.
"use strict";
const Texts = (() => {
  const nouns = (k) => k.nouns || `${k.noun}s`;

  // editor writes one text of a kind; changed is called after it was saved, restored or deleted, and back takes the focus when it closes.
  const editor = (k, changed, back) => {
    const box = make("section", { class: "panel text-editor", tabindex: "-1", hidden: true, "aria-labelledby": `${k.family}-title` });
    let turn = 0; // the newest check; answers of older ones are dropped
    let now = () => ""; // the text as it is, and as it was read
    let saved = "";
    box.unsaved = () => box.isConnected && !box.hidden && now() !== saved;
    const leave = Dialogs.unsaved(box.unsaved);
    // The token is that of the version of the text, "" for a new one.
    const open = async (name, text, token) => {
      const title = make("h2", { id: `${k.family}-title` }, name || `New ${k.noun}`);
      const area = make("textarea", { class: "mono", rows: 16, spellcheck: "false", autocapitalize: "off", "aria-label": `Text of the ${k.noun}` }, text);
      now = () => area.value;
      saved = area.value;
      const held = box.contains(document.activeElement);
      const state = make("span", { class: "tag", role: "status" }, "Checking…");
      const wrong = make("ul", { class: "list wrongs", "aria-label": "Problems", hidden: true });
      const more = make("div");
      const old = make("ul", { class: "list", "aria-label": "Versions", hidden: true });
      const note = make("input", { autocomplete: "off", maxlength: 500 });
      // The name of a type's text is that of its file; others say their names themselves.
      const called = k.named && !name ? make("input", { autocomplete: "off", maxlength: 100, required: true, value: k.named }) : null;
      const file = () => `${(k.named && (name || (called && called.value))) || k.noun}${k.extended ? "" : ".yaml"}`;
      const show = (p) => {
        const before = area.value.split("\n").slice(0, (p.line || 1) - 1).join("\n");
        area.focus();
        area.setSelectionRange(before.length + (before ? 1 : 0) + (p.column || 1) - 1, before.length + (before ? 1 : 0) + (p.column || 1) - 1);
      };
      const check = async () => {
        const mine = ++turn;
        const found = await run(`${k.family}.Check`, { source: area.value, name: file() });
        const said = found.length || !k.about ? [] : await k.about(area.value).catch(() => []);
        if (mine !== turn) return;
        const n = found.filter((p) => !p.warning).length;
        state.textContent = n ? `Problems found: ${n}` : "No problems found.";
        state.className = `tag ${n ? "bad" : "good"}`;
        wrong.hidden = !found.length;
        wrong.replaceChildren(...found.map((p) => make("li", {}, make("button", { type: "button", class: "quiet", onclick: () => show(p) }, `Line ${p.line || 1}: ${p.warning ? "warning: " : ""}${p.message}${p.nearest ? `, perhaps ${p.nearest}` : ""}`))));
        more.replaceChildren(...said);
      };
      let timer = 0;
      for (const input of [area, called]) if (input) input.addEventListener("input", () => {
        clearTimeout(timer);
        state.textContent = "Checking…";
        state.className = "tag";
        timer = setTimeout(tried(check), 400);
      });
      const done = async (words, again) => {
        const read = await run(`${k.family}.Read`, { name: again });
        await open(again, read.source, read.changeToken);
        await changed(words);
      };
      const save = async () => {
        area.readOnly = true; // what is shown afterwards is what was saved
        const made = await Keep.save(k.family, k.noun, { source: area.value, note: note.value || undefined, name: k.named ? file() : undefined }, token).finally(() => (area.readOnly = false));
        if (!made) return;
        if (made.source !== undefined) return void await open(made.name, made.source, made.changeToken);
        await done(`Saved ${made.name}, version ${made.version}.`, made.name);
      };
      const versions = async () => {
        const all = await run(`${k.family}.Versions`, { name });
        old.replaceChildren(...all.map((v, i) => make("li", {}, make("div", {}, `Version ${v.version} `, make("span", { class: "soft" }, `${v.author}, `, ago(v.time), v.note ? ` · ${v.note}` : "")),
          v.version > 1 ? make("button", { type: "button", class: "quiet", "aria-label": `Changes of version ${v.version}`, onclick: tried(async () => {
            const diff = await run(`${k.family}.Diff`, { name, from: v.version - 1, to: v.version });
            await Dialogs.open({ title: `Version ${v.version} of ${name}`, action: "", cancel: "Close", wide: true, body: [make("pre", { class: "result", tabindex: "0", "aria-label": "Changes" }, diff || "No changes.")] });
          }) }, "Changes") : null,
          i ? make("button", { type: "button", class: "quiet", "aria-label": `Restore version ${v.version}`, onclick: tried(async () => {
            if (await leave() && await Keep.act(k.family, k.noun, "Restore", { name, version: v.version }, token)) await done(`Restored version ${v.version}.`, name);
          }) }, "Restore") : null)));
        old.hidden = false;
      };
      const remove = async () => {
        if (!await Dialogs.confirm(`Delete the ${k.noun}`, `Delete ${name}? Its versions stay readable.`, "Delete")) return;
        if (!await Keep.act(k.family, k.noun, "Delete", { name }, token)) return;
        box.hidden = true;
        await changed("Deleted.");
      };
      box.replaceChildren(make("div", { class: "head" }, title, state, make("button", { type: "button", class: "quiet", onclick: tried(async () => {
        if (!await leave()) return;
        turn++;
        box.hidden = true;
        back?.();
      }) }, "Close")), ...(called ? [make("div", { class: "row" }, make("label", {}, "Name ", called))] : []), area, wrong, more,
      make("div", { class: "row" }, make("label", {}, "Reason ", note), name ? make("button", { type: "button", class: "quiet", onclick: tried(versions) }, "Versions") : null,
        name ? make("button", { type: "button", class: "quiet danger", onclick: tried(remove) }, "Delete") : null, make("button", { type: "button", class: "primary", onclick: tried(save) }, "Save")), old);
      box.hidden = false;
      if (held) box.querySelector(".primary").focus({ preventScroll: true }); // what was pressed was drawn again
      await check();
    };
    return { box, open: async (name) => {
      if (!await leave()) return;
      const read = name ? await run(`${k.family}.Read`, { name }) : { source: k.first, changeToken: "" };
      await open(name, read.source, read.changeToken);
      box.querySelector("textarea").focus();
      box.scrollIntoView({ block: "start" });
    } };
  };

  // pane is a tab of the texts of a kind: { family, noun, nouns, first, named, extended, states, facts, acts, about, changed }. first is the text of a new one, states
  // returns what is known of each by name, named is a first name for texts that do not say theirs, extended says that names have the extensions of files, changed is called after a change, facts the words and acts the buttons of one; about says more of a text without mistakes.
  const pane = (k) => {
    let newest = null; // the refresh of the list that is shown: a text may be saved after its tab was opened again
    return async (box, say) => {
      const list = make("ul", { class: "list panel", "aria-label": `All ${nouns(k)}` });
      let turn = 0; // the newest question; answers of older ones are dropped
      const refresh = async () => {
        const mine = ++turn;
        const [all, states] = await Promise.all([run(`${k.family}.List`, {}), k.states ? run(k.states, {}) : []]);
        if (mine !== turn) return;
        const of = new Map(states.map((s) => [s.name, s]));
        const held = list.contains(document.activeElement) ? document.activeElement : null;
        list.replaceChildren(...(all.length ? all.map((v) => {
          const s = of.get(v.name) || {};
          return make("li", { "data-name": v.name }, make("div", {}, make("strong", {}, v.name), " ", s.state ? make("span", { class: `tag ${s.failure ? "bad" : /^(enabled|scheduled)$/.test(s.state) ? "good" : ""}` }, s.failure ? "failed" : s.state) : null,
            make("p", { class: "small" }, ...(k.facts ? k.facts(s) : []), make("span", { class: "soft" }, `version ${v.version}, ${v.author}, `, ago(v.time))), s.failure ? make("p", { class: "small" }, s.failure) : null),
          ...(k.acts ? k.acts(s, v.name, refresh, say) : []),
          make("button", { type: "button", class: "quiet", "aria-label": `Edit ${v.name}`, onclick: tried(() => one.open(v.name)) }, "Edit"));
        }) : [make("li", { class: "soft" }, `No ${nouns(k)} yet.`)]));
        // What was pressed was drawn again, perhaps as another button.
        const line = held && [...list.children].find((li) => li.dataset.name === held.closest("li").dataset.name);
        if (line) ([...line.querySelectorAll("button, a")].find((b) => b.ariaLabel === held.ariaLabel) || line.querySelector("button")).focus();
      };
      const one = editor(k, async (words) => {
        await newest();
        if (k.changed) await k.changed();
        say(words);
        if (one.box.hidden) fresh.focus();
      }, () => fresh.focus());
      const fresh = make("button", { type: "button", class: "primary", onclick: tried(() => one.open("")) }, `New ${k.noun}`);
      box.replaceChildren(make("div", { class: "row list-head" }, fresh), list, one.box);
      newest = refresh;
      await refresh();
    };
  };

  // unsaved reports whether a text within an element was changed and is not saved.
  const unsaved = (within) => [...within.querySelectorAll(".text-editor")].some((e) => e.unsaved());

  return { pane, unsaved };
})();
