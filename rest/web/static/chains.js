// The console's page of chains: find, write, check, save, dry run, run.
"use strict";
(() => {
  const empty = "name: My.Chain\ninput: document\noutput: document\nsteps:\n";
  let all = [];
  let operations = [];
  let chosen = ""; // the saved chain that is tried
  let saved = ""; // its text: what was changed since cannot be tried
  let checks = 0; // the newest check; answers of older ones are dropped
  let timer;
  const source = byId("source");

  // outline finds the lines that begin a step. It only places problems and leads to lines: the server reads the chain.
  const outline = (text) => text.split("\n").flatMap((line, i) => {
    const m = /^(\s*)-\s*\{?\s*(op|if|switch|each|parallel|wait|return|retry|undo)\s*:\s*(.*)$/.exec(line);
    return m ? [{ line: i + 1, indent: m[1].length, kind: m[2], text: m[3].replace(/[,}].*$/, "").trim() }] : [];
  });

  const goTo = (line, column = 1) => () => {
    const before = source.value.split("\n").slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    source.focus();
    source.setSelectionRange(before + column - 1, before + column - 1);
  };

  const trouble = (p) => make("button", { type: "button", class: "alert problem", "data-line": p.line, onclick: goTo(p.line, p.column) }, `Line ${p.line}, column ${p.column}: `, p.message);

  const draw = (problems) => {
    const steps = outline(source.value);
    const least = Math.min(...steps.map((s) => s.indent));
    const own = new Map(steps.map((s) => [s, []]));
    const rest = [];
    for (const p of problems) {
      const step = steps.findLast((s) => s.line <= p.line);
      (step ? own.get(step) : rest).push(p);
    }
    byId("steps").replaceChildren(
      ...rest.map((p) => make("li", {}, trouble(p))),
      ...steps.map((s) => make("li", { "data-step": s.line },
        make("button", { type: "button", class: "quiet", onclick: goTo(s.line) }, `${"› ".repeat((s.indent - least) / 2)}${s.kind === "op" ? s.text : `${s.kind} ${s.text}`}`),
        make("span", { class: "tag" }, `line ${s.line}`), ...own.get(s).map(trouble))),
    );
    if (!steps.length && !rest.length) byId("steps").append(make("li", { class: "soft" }, "No steps yet."));
  };

  const check = tried(async () => {
    const mine = ++checks;
    byId("state").textContent = "Checking…";
    const answer = await run("Chain.Check", { source: source.value });
    if (mine !== checks) return;
    const problems = Array.isArray(answer) ? answer : [];
    draw(problems);
    byId("state").textContent = problems.length ? `Problems found: ${problems.length}` : "No problems found.";
  });

  const ready = () => {
    byId("dry").disabled = byId("go").disabled = !chosen || source.value !== saved;
  };

  const changed = () => {
    draw([]);
    ready();
    clearTimeout(timer);
    timer = setTimeout(check, 400);
  };

  const write = (text, name) => {
    source.value = text;
    chosen = name;
    saved = name ? text : "";
    byId("result").hidden = true;
    list();
    changed();
  };

  const open = (name) => tried(async () => write((await run("Chain.Read", { name })).source, name));

  const list = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = all.filter((c) => words.every((w) => c.name.toLowerCase().includes(w)));
    byId("names").replaceChildren(...(hits.length ? hits.map((c) => make("button", { "data-id": c.name, "aria-current": c.name === chosen ? "true" : null, onclick: open(c.name) }, c.name)) : [make("p", { class: "soft" }, all.length ? "Nothing found." : "No chains yet.")]));
  };

  const load = async () => {
    const answer = await run("Chain.List", {});
    all = Array.isArray(answer) ? answer : [];
    list();
  };

  // append writes a step behind the last one, with the parameters that must be given. Other keys of the chain may follow the
  // steps.
  const append = tried(async () => {
    const op = operations.find((o) => o.id === byId("add").value.trim());
    if (!op) throw new Error("Choose an operation from the list.");
    const steps = outline(source.value);
    const pad = " ".repeat(steps.length ? Math.min(...steps.map((s) => s.indent)) : 2);
    const given = op.params.filter((p) => p.required).map((p) => `${pad}    ${p.name}: ""`);
    const lines = source.value.trimEnd().split("\n");
    if (!lines.some((l) => /^steps\s*:/.test(l))) lines.push("steps:");
    const begin = lines.findIndex((l) => /^steps\s*:/.test(l)) + 1;
    const next = lines.findIndex((l, n) => n >= begin && /^[^\s#-]/.test(l));
    const step = `${pad}- op: ${op.id}${given.length ? `\n${pad}  params:\n${given.join("\n")}` : ""}`;
    lines.splice(next < 0 ? lines.length : next, 0, step);
    source.value = `${lines.join("\n")}\n`;
    byId("add").value = "";
    changed();
  });

  source.addEventListener("input", changed);
  byId("search").addEventListener("input", list);
  byId("new").addEventListener("click", () => {
    write(empty, "");
    source.focus();
  });
  byId("append").addEventListener("click", append);
  byId("add").addEventListener("keydown", (e) => {
    if (e.key === "Enter") append(e);
  });
  byId("edit").addEventListener("submit", tried(async () => {
    const text = source.value;
    const made = await run("Chain.Save", { source: text });
    chosen = made.name;
    saved = text;
    ready();
    await load();
    byId("state").textContent = `Saved ${made.name}, version ${made.version}.`;
  }));
  byId("try").addEventListener("submit", tried(async (e) => {
    byId("result").replaceChildren();
    const f = new FormData(byId("try"));
    const dry = e.submitter?.value === "dry" ? "?dryRun=true" : "";
    const { answer, status } = await call("POST", `/api/v1/automation/${encodeURIComponent(chosen)}${dry}`, { params: JSON.parse(f.get("params") || "{}"), input: f.get("input") || undefined });
    byId("result").textContent = status === 204 ? "Done, without a result." : typeof answer === "string" ? answer.slice(0, 20000) : JSON.stringify(answer, null, 2);
    byId("result").hidden = false;
    byId("result").focus();
  }));
  tried(async () => {
    const { answer } = await call("GET", "/api/v1/automation");
    operations = [...answer.operations, ...(answer.chains || [])];
    byId("operations").replaceChildren(...operations.map((o) => make("option", { value: o.id })));
    write(empty, "");
    await load();
  })();
})();
