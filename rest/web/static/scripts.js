// The console's page of scripts: find, write, check, save, run, and see where the time went.
"use strict";
(() => {
  const empty = "/**\n * @operation My.Script\n * @description What it does.\n * @input document\n * @output document\n */\nfunction run(input, params) {\n  return input;\n}\n";
  const emptyModule = "/** @module shared */\n\nexport function twice(n) {\n  return 2 * n;\n}\n";
  let all = []; // scripts
  let modules = [];
  let chosen = ""; // name of the saved text that is shown
  let saved = empty; // the text before it was changed
  let token = ""; // of its version, "" for a new one
  let kind = "Script"; // or Module: the family of operations for the text
  let editor = null;
  let test = { fields: [], given: {} };
  let shape = ""; // what the test form was made of
  let checks = 0; // the newest check; answers of older ones are dropped
  let good = {}; // the text that was saved last, and what the page says of it for as long as it is shown

  // field stands for the editor until somebody turns to the text, and in a program that was built without it.
  const field = (host, { text, label, changed, check }) => {
    const area = make("textarea", { rows: 24, class: "mono", spellcheck: "false", autocapitalize: "off", "aria-label": label }, text);
    let timer;
    area.addEventListener("input", () => {
      changed(area.value);
      clearTimeout(timer);
      timer = setTimeout(() => check(area.value), 400);
    });
    host.append(area);
    return {
      area,
      get text() { return area.value; },
      set text(s) {
        area.value = s;
        changed(s);
        check(s);
      },
      focus: () => area.focus(),
      check: () => check(area.value),
      show: (line) => {
        const at = area.value.split("\n").slice(0, line - 1).join("\n").length + 1;
        area.focus();
        area.setSelectionRange(at, at);
      },
    };
  };

  const judge = (text, good) => {
    byId("state").textContent = text;
    byId("state").className = good === undefined ? "tag" : good ? "tag good" : "tag bad";
  };

  // check asks the server what is wrong with a text; the editor marks what it returns.
  const check = async (text) => {
    const mine = ++checks;
    let found = [];
    try {
      found = await run(`${kind}.Check`, { source: text, name: "script.js" });
    } catch (error) {
      byId("message").textContent = error.message;
      byId("message").hidden = false;
    }
    if (mine !== checks) return found;
    judge(found.length ? `Problems found: ${found.length}` : text === good.text ? good.words : "No problems found.", !found.length);
    byId("problems").hidden = !found.length;
    byId("problems").replaceChildren(...found.map((p) => make("li", {}, make("button", { type: "button", class: "quiet", onclick: () => editor.show(p.line || 1, p.column || 1) }, `Line ${p.line || 1}: ${p.message}${p.nearest ? `, perhaps ${p.nearest}` : ""}`))));
    return found;
  };

  // declared is what the comment of a script says: what it takes, for the form it is tried with.
  const declared = async (text) => {
    const said = await run("Script.Outline", { source: text });
    const params = said.params.map((p) => ({ ...p, default: p.default === undefined || typeof p.default === "string" ? p.default : JSON.stringify(p.default) }));
    return { members: [{ name: "input", value: said.input }, { name: "params", value: params }] };
  };

  // familyOf tells modules from scripts by the comment at the start of the text.
  const familyOf = (text) => (/^\s*\/\*\*(?:(?!\*\/)[\s\S])*?@module\s/.test(text) ? "Module" : "Script");

  const reshape = async (text) => {
    if (kind === "Module") return;
    const now = await declared(text);
    const form = JSON.stringify(now);
    if (form === shape || editor?.text !== text) return;
    shape = form;
    const kept = test.given;
    test = ChainRun.form(now);
    Object.assign(test.given, Object.fromEntries(Object.entries(kept).filter(([k]) => now.members[1].value.some((p) => k === `param ${p.name}`) || k === "%input")));
    byId("values").replaceChildren(...test.fields);
  };

  let shaping = 0;
  const changed = (text) => {
    judge("Checking…");
    kind = familyOf(text);
    byId("try").hidden = kind === "Module";
    clearTimeout(shaping);
    shaping = setTimeout(tried(() => reshape(text)), 200);
  };

  const list = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = (family, title, list) => {
      const hits = list.filter((s) => words.every((w) => s.name.toLowerCase().includes(w)));
      return [make("h2", {}, title), ...(hits.length ? hits.map((s) => make("button", { "data-id": s.name, "data-kind": family, "aria-current": s.name === chosen && family === kind ? "true" : null, onclick: turnFrom(() => open(s.name, family)) }, s.name)) : [make("p", { class: "soft small" }, list.length ? "Nothing found." : `No ${title.toLowerCase()} yet.`)])];
    };
    byId("names").replaceChildren(...group("Script", "Scripts", all), ...group("Module", "Modules", modules));
  };

  // uses shows what a module exports and who imports it, or which modules a script imports.
  const uses = () => {
    const own = modules.find((m) => m.name === chosen);
    const imports = modules.map((m) => [m, m.usedBy.find((u) => u.name === chosen && u.kind === kind.toLowerCase())]).filter(([, u]) => u);
    const link = (name, family) => make("button", { type: "button", class: "quiet", onclick: turnFrom(() => open(name, family)) }, name);
    const lines = [];
    if (kind === "Module" && own) {
      lines.push(make("h3", {}, "Exports"), make("p", {}, ...(own.exports.length ? own.exports.flatMap((e, i) => [i ? ", " : "", make("code", {}, `${e.name}${e.kind === "function" ? `(${e.params || ""})` : ""}`)]) : ["Nothing."])),
        make("h3", {}, "Used by"), ...(own.usedBy.length ? [make("ul", { class: "list" }, ...own.usedBy.map((u) => make("li", {}, make("div", {}, link(u.name, u.kind === "module" ? "Module" : "Script"), make("span", { class: "soft small" }, ` ${u.kind}`)), make("span", { class: "soft small" }, u.names.join(", ")))))] : [make("p", { class: "soft" }, "No script imports it.")]));
    }
    if (imports.length) lines.push(make("h3", {}, "Imports"), make("ul", { class: "list" }, ...imports.map(([m, u]) => make("li", {}, make("div", {}, link(m.name, "Module"), make("span", { class: "soft small" }, ` version ${m.version}`)), make("span", { class: "soft small" }, u.names.join(", "))))));
    byId("uses").hidden = !chosen || !lines.length;
    byId("uses-title").textContent = kind === "Module" ? "What it shares" : "What it shares with others";
    byId("uses").querySelector("div").replaceChildren(...lines);
  };

  // The address names the text that is shown, so that it is there again after the page was left or reloaded.
  const address = () => {
    const to = chosen ? `#${kind === "Module" ? "module:" : ""}${encodeURIComponent(chosen)}` : "";
    if (to !== location.hash) history.pushState(null, "", location.pathname + to);
  };
  const leave = Dialogs.unsaved(() => editor && editor.text !== saved);

  let opens = 0; // an answer about a text is dropped if another one was opened meanwhile, or begun
  const write = (text, name = "", version = "") => {
    opens++;
    saved = text;
    good = {};
    chosen = name;
    token = version;
    kind = familyOf(text);
    byId("title").textContent = name || `New ${kind.toLowerCase()}`;
    byId("history").hidden = byId("remove").hidden = !name;
    for (const id of ["versions", "result", "console", "profile"]) byId(id).hidden = true;
    byId("outcome").textContent = "";
    editor.text = text;
    list();
    uses();
    address();
  };

  const open = async (name, family) => {
    const mine = ++opens;
    const read = await run(`${family}.Read`, { name });
    if (mine !== opens) return;
    write(read.source, name, read.changeToken);
  };
  const turnFrom = (act) => tried(async () => await leave() && act());
  const named = async () => {
    const asked = decodeURIComponent(location.hash.slice(1));
    if (!asked) write(empty);
    else await open(asked.replace(/^module:/, ""), asked.startsWith("module:") ? "Module" : "Script");
  };

  const load = async () => {
    [all, modules] = await Promise.all([run("Script.List", {}), run("Module.Outline", {})]);
    known = undefined; // what the editor completes may have changed
    list();
    uses();
  };

  // profile adds up the calls of a trace by operation and line, the longest first.
  const profile = (trace) => {
    const rows = new Map();
    const walk = (s) => {
      for (const t of s.steps || []) {
        const key = `${t.op} ${t.line || 0}`;
        const row = rows.get(key) || { op: t.op, line: t.line, calls: 0, time: 0 };
        row.calls++;
        row.time += t.duration;
        rows.set(key, row);
        walk(t);
      }
    };
    walk(trace);
    return [...rows.values()].sort((a, b) => b.time - a.time);
  };

  const spoken = (trace) => [...(trace.console || []), ...(trace.steps || []).flatMap(spoken)];

  const attempt = async (dry) => {
    for (const id of ["result", "console", "profile"]) byId(id).hidden = true;
    byId("outcome").textContent = "Running…";
    const params = Object.fromEntries(Object.entries(test.given).filter(([k]) => k.startsWith("param ")).map(([k, v]) => [k.slice(6), v]));
    // The answer of a call that fails does not tell the id of its trace, so it is chosen here (W3C Trace Context).
    const hex = (n) => [...crypto.getRandomValues(new Uint8Array(n))].map((b) => b.toString(16).padStart(2, "0")).join("");
    const id = hex(16);
    let answer;
    try {
      ({ answer } = await call("POST", `/api/v1/automation/Script.Run?trace=true${dry ? "&dryRun=true" : ""}`, { params: { source: editor.text, name: "script.js", params }, input: test.given["%input"] }, { traceparent: `00-${id}-${hex(8)}-01` }));
    } catch (error) {
      byId("outcome").textContent = "The script failed.";
      const { answer: trace } = await call("GET", `/api/v1/automation/traces/${id}`).catch(() => ({}));
      report(trace || {});
      throw error;
    }
    const trace = dry ? answer.trace || {} : (await call("GET", `/api/v1/automation/traces/${id}`)).answer;
    const value = dry ? answer.value : bare(answer);
    byId("result").textContent = value === undefined || value === null || value === "" ? "Done, without a result." : typeof value === "string" ? value.slice(0, 20000) : JSON.stringify(value, null, 2).slice(0, 200000);
    byId("result").hidden = false;
    report(trace);
    byId("outcome").textContent = `${dry ? "Dry run: nothing was changed." : "The script has run."} It took ${lasts(trace.duration || 0)}.`;
  };

  // report shows what the script printed, and where its time went.
  const report = (trace) => {
    const said = spoken(trace);
    byId("console").textContent = said.join("\n");
    byId("console").hidden = !said.length;
    const rows = profile(trace);
    byId("profile").querySelector("tbody").replaceChildren(...rows.slice(0, 50).map((r) => make("tr", {}, make("td", {}, make("code", {}, r.op)), make("td", {}, r.line || ""), make("td", {}, r.calls), make("td", {}, lasts(r.time)))));
    byId("profile").hidden = !rows.length;
  };

  const versions = async () => {
    byId("versions").querySelector("ul").replaceChildren(...await ChainRun.versions(chosen, async (version) => {
      if (!await leave()) return;
      await fetchKeep();
      if (!await Keep.act(kind, kind.toLowerCase(), "Restore", { name: chosen, version }, token)) return;
      await load();
      await open(chosen, kind);
      await versions();
    }, kind));
    byId("versions").hidden = false;
  };

  // words are what the editor completes, asked for when somebody writes.
  let known;
  const words = () => (known ||= Promise.all([call("GET", "/api/v1/automation?view=names"), run("Script.Types", { only: "language" }).catch(() => "")]).then(([{ answer: registry }, typings]) =>
    ScriptWords.of(registry.operations, typeof typings === "string" ? typings : "", modules, async (name) => (await call("GET", `/api/v1/automation/${encodeURIComponent(name)}`)).answer)));
  byId("code").addEventListener("focusin", () => words().catch(() => (known = undefined)));

  byId("search").addEventListener("input", list);
  byId("new").addEventListener("click", turnFrom(() => write(empty)));
  byId("new-module").addEventListener("click", turnFrom(() => write(emptyModule)));
  byId("remove").addEventListener("click", tried(async () => {
    if (!await Dialogs.confirm(`Delete the ${kind.toLowerCase()}`, `Delete ${chosen}? Its versions stay readable.`, "Delete")) return;
    await fetchKeep();
    if (!await Keep.act(kind, kind.toLowerCase(), "Delete", { name: chosen }, token)) return;
    write(kind === "Module" ? emptyModule : empty);
    await load();
  }));
  byId("history").addEventListener("click", tried(versions));
  // What saves is fetched when somebody saves: the page is as large as it may be.
  let keeping = null;
  const fetchKeep = () => (keeping ||= Promise.all(["conflict", "keep"].map((name) => new Promise((go, no) => {
    document.head.append(make("script", { src: byId("code").dataset[name], onload: go, onerror: () => {
      keeping = null;
      no(new Error("The server did not answer. Nothing has changed; try again."));
    } }));
  }))));
  byId("edit").addEventListener("submit", tried(async () => {
    const text = editor.text;
    await fetchKeep();
    const made = await Keep.save(kind, kind.toLowerCase(), { source: text }, token);
    if (!made) return;
    if (made.source !== undefined) return write(made.source, made.name, made.changeToken);
    token = made.changeToken;
    chosen = made.name;
    saved = text;
    byId("title").textContent = chosen;
    byId("history").hidden = byId("remove").hidden = false;
    address();
    await load();
    good = { text, words: `Saved ${made.name}, version ${made.version}.` };
    judge(good.words, true);
  }));
  byId("try").addEventListener("submit", (e) => tried(() => disabling([byId("dry"), byId("go")], () => attempt(e.submitter?.value === "dry")))(e));

  // The editor is as large as everything else of the page. It is fetched when somebody turns to the text, or if the browser has kept it
  // since an earlier visit.
  const code = byId("code");
  const kept = (address) => {
    try {
      if (address) localStorage.setItem("editor", address);
      return localStorage.getItem("editor");
    } catch {
      return null; // the browser keeps nothing for this page
    }
  };
  const options = { label: "Text of the script", words, check, changed };
  let fetching = null;
  const fetchEditor = () => (fetching ||= new Promise((go) => {
    document.head.append(make("script", { src: code.dataset.editor, onload: () => go(typeof Editor === "object"), onerror: () => go(false) }));
  }));
  const turnTo = async () => {
    const { area } = editor;
    if (!area || !(await fetchEditor()) || !editor.area) return;
    const [focused, at] = [document.activeElement === area, area.selectionStart];
    editor = Editor.mount(code, { ...options, text: area.value });
    area.remove();
    kept(code.dataset.editor);
    editor.view.dispatch({ selection: { anchor: at } });
    if (focused) editor.focus();
  };
  for (const name of ["pointerenter", "focusin"]) code.addEventListener(name, tried(turnTo, false));

  tried(async () => {
    const mount = kept() === code.dataset.editor && await fetchEditor() ? Editor.mount : field;
    editor = mount(code, { ...options, text: empty });
    changed(empty);
    await load();
    if (location.hash) await named();
    else editor.check();
  })();
  window.addEventListener("popstate", tried(async () => {
    if (await leave()) await named();
    else address();
  }, false));
})();
