// The console's page of scripts: find, write, check, save, run, and see where the time went.
"use strict";
(() => {
  const empty = "/**\n * @operation My.Script\n * @description What it does.\n * @input document\n * @output document\n */\nfunction run(input, params) {\n  return input;\n}\n";
  let all = [];
  let chosen = ""; // the saved script that is shown
  let editor = null;
  let test = { fields: [], given: {} };
  let shape = ""; // what the test form was made of
  let checks = 0; // the newest check; answers of older ones are dropped

  // field stands for the editor in a program that was built without it.
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
      found = await run("Script.Check", { source: text, name: "script.js" });
    } catch (error) {
      byId("message").textContent = error.message;
      byId("message").hidden = false;
    }
    if (mine !== checks) return found;
    judge(found.length ? `Problems found: ${found.length}` : "No problems found.", !found.length);
    byId("problems").hidden = !found.length;
    byId("problems").replaceChildren(...found.map((p) => make("li", {}, make("button", { type: "button", class: "quiet", onclick: () => editor.show(p.line || 1, p.column || 1) }, `Line ${p.line || 1}: ${p.message}`))));
    return found;
  };

  // declared is what the comment of a script says: what it takes, for the form it is tried with.
  const declared = async (text) => {
    const said = await run("Script.Outline", { source: text });
    const params = said.params.map((p) => ({ ...p, default: p.default === undefined || typeof p.default === "string" ? p.default : JSON.stringify(p.default) }));
    return { members: [{ name: "input", value: said.input }, { name: "params", value: params }] };
  };

  const reshape = async (text) => {
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
    clearTimeout(shaping);
    shaping = setTimeout(tried(() => reshape(text)), 200);
  };

  const list = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = all.filter((s) => words.every((w) => s.name.toLowerCase().includes(w)));
    byId("names").replaceChildren(...(hits.length ? hits.map((s) => make("button", { "data-id": s.name, "aria-current": s.name === chosen ? "true" : null, onclick: tried(() => open(s.name)) }, s.name)) : [make("p", { class: "soft" }, all.length ? "Nothing found." : "No scripts yet.")]));
  };

  const write = (text, name) => {
    chosen = name;
    byId("title").textContent = name || "New script";
    byId("history").hidden = !name;
    for (const id of ["versions", "result", "console", "profile"]) byId(id).hidden = true;
    byId("outcome").textContent = "";
    editor.text = text;
    list();
    history.replaceState(null, "", name ? `#${encodeURIComponent(name)}` : location.pathname);
  };

  const open = async (name) => write((await run("Script.Read", { name })).source, name);

  const load = async () => {
    const answer = await run("Script.List", {});
    all = Array.isArray(answer) ? answer : [];
    list();
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
      await run("Script.Restore", { name: chosen, version });
      await open(chosen);
      await versions();
    }, "Script"));
    byId("versions").hidden = false;
  };

  // words are what the editor completes: more than half of what the page loads, and so asked for when somebody writes.
  let known;
  const words = () => (known ||= Promise.all([call("GET", "/api/v1/automation"), run("Script.Types", {}).catch(() => "")]).then(([{ answer: registry }, typings]) =>
    ScriptWords.of([...registry.operations, ...(registry.chains || [])], typeof typings === "string" ? typings : "")));
  byId("code").addEventListener("focusin", () => words().catch(() => (known = undefined)));

  byId("search").addEventListener("input", list);
  byId("new").addEventListener("click", tried(() => write(empty, "")));
  byId("history").addEventListener("click", tried(versions));
  byId("edit").addEventListener("submit", tried(async () => {
    const made = await run("Script.Save", { source: editor.text });
    chosen = made.name;
    byId("title").textContent = chosen;
    byId("history").hidden = false;
    history.replaceState(null, "", `#${encodeURIComponent(chosen)}`);
    await load();
    judge(`Saved ${made.name}, version ${made.version}.`, true);
  }));
  byId("try").addEventListener("submit", (e) => tried(() => attempt(e.submitter?.value === "dry"))(e));

  tried(async () => {
    const asked = decodeURIComponent(location.hash.slice(1));
    const mount = typeof Editor === "object" ? Editor.mount : field;
    editor = mount(byId("code"), { text: empty, label: "Text of the script", words, check, changed });
    changed(empty);
    await load();
    if (asked) await open(asked);
    else editor.check();
  })();
})();
