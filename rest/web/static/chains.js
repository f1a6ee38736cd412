// The console's page of chains: find, build by cards or as text, check, save, dry run, run.
"use strict";
(() => {
  const empty = "name: My.Chain\ninput: document\noutput: document\nsteps: []\n";
  let all = [];
  let chosen = ""; // the saved chain that is tried
  let saved = ""; // its text: what was changed since cannot be tried
  let token = ""; // of the version that it is, "" for a new chain
  let outline = null;
  let test = { fields: [], given: {} };
  let tested = ""; // what the test form was made of
  let did = null; // what the steps of the last dry run did, by line
  let checks = 0; // the newest check; answers of older ones are dropped
  let good = {}; // the text that was saved last, and what the page says of it for as long as it is shown
  let past = []; // texts before the edits of cards
  let timer;
  let work = Promise.resolve(); // edits are made one after the other, each of the text that the one before made
  const source = byId("source");

  const show = (line, column = 1) => {
    const before = source.value.split("\n").slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    byId("text").open = true;
    source.focus();
    source.setSelectionRange(before + column - 1, before + column - 1);
  };

  // keeping draws something again and leaves the focus, and what is being typed, where it was.
  const keeping = (draw, next) => {
    const old = document.activeElement;
    const key = next || old?.dataset?.key;
    const typed = old?.dataset?.key === key && old.matches("input, textarea") && old.value !== old.defaultValue ? old.value : null;
    const caret = typed === null ? null : old.selectionStart;
    draw();
    const now = key ? document.querySelector(`[data-key="${CSS.escape(key)}"]`) : null;
    if (!now || now === document.activeElement) return;
    now.focus({ preventScroll: !next });
    if (typed !== null && "value" in now) {
      now.value = typed;
      if (caret !== null) now.setSelectionRange(caret, caret);
    }
  };

  const page = {
    show,
    // edit changes the text once earlier edits have; given a function, by what that says then.
    edit: (e, next) => {
      work = work.then(tried(async () => {
        if (typeof e === "function") ({ next, ...e } = e());
        const before = source.value;
        const text = await run("Chain.Edit", { source: before, ...e });
        past = [...past.slice(-99), before];
        source.value = text;
        did = null;
        await check(next);
      }));
      return work;
    },
    add: (path) => find(path),
    draw: () => keeping(draw),
    did: (card) => did && (did.failed ? did.get(card.line) : card.kind === "operation" && (did.get(card.line) || { times: 0, changes: [] })),
  };

  const draw = () => {
    if (!outline) return;
    ChainCards.draw(byId("cards"), outline, page);
    byId("settings").replaceChildren(...ChainForm.settings(outline, page.edit));
    const form = JSON.stringify(outline.members.filter((m) => m.name === "input" || m.name === "params").map((m) => [m.name, m.value]));
    if (form !== tested) {
      tested = form;
      test = ChainRun.form(outline);
      byId("values").replaceChildren(...test.fields);
    }
    ready();
  };

  const wrong = (list) => list.filter((p) => !p.warning).length;
  const problems = (list) => list.reduce((n, c) => n + wrong(c.problems) + c.branches.reduce((m, b) => m + problems(b.steps), 0), 0);

  const check = async (next) => {
    const mine = ++checks;
    clearTimeout(timer);
    const text = source.value;
    const answer = await run("Chain.Outline", { source: text });
    if (mine !== checks) return;
    outline = answer;
    keeping(draw, next);
    const n = wrong(answer.problems) + problems(answer.steps);
    byId("state").textContent = n ? `Problems found: ${n}` : text === good.text ? good.words : "No problems found.";
    byId("state").className = n ? "tag bad" : "tag good";
  };

  const ready = () => {
    byId("tryhint").hidden = source.value === saved;
    byId("undo").disabled = !past.length;
    for (const id of ["history", "users", "remove", "schedule"]) byId(id).hidden = !chosen;
  };

  const changed = () => {
    did = null;
    ready();
    byId("state").textContent = "Checking…";
    clearTimeout(timer);
    timer = setTimeout(tried(() => check()), 400);
  };

  let opens = 0; // an answer about a chain is dropped if another one was opened meanwhile, or begun
  const write = async (text, name, version) => {
    opens++;
    source.value = text;
    good = {};
    chosen = name;
    token = version;
    saved = name ? text : "";
    past = [];
    did = null;
    ChainCards.close();
    byId("result").hidden = byId("versions").hidden = byId("uses").hidden = byId("done").hidden = true;
    byId("title").textContent = name || "New chain";
    byId("about").open = !name; // a new one is named first
    list();
    await check();
  };

  // The address names the chain that is shown, so that it is there again after the page was left or reloaded.
  const address = (name) => `${location.pathname}${name ? `#${encodeURIComponent(name)}` : ""}`;
  const leave = Dialogs.unsaved(() => source.value !== (saved || empty));
  const open = (name) => tried(async () => {
    if (!await leave()) return;
    const mine = ++opens;
    const read = name ? await run("Chain.Read", { name }) : { source: empty, changeToken: "" };
    if (mine !== opens) return;
    window.history.pushState(null, "", address(name));
    await write(read.source, name, read.changeToken);
  });

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

  // find asks for the step to put at a path.
  let place = "";
  let asked = 0;
  const find = (path) => {
    place = path; // of a step, or of a list that gets one more at its end
    byId("what").value = "";
    byId("found").replaceChildren();
    byId("finder").showModal();
    byId("what").focus();
    search();
  };
  const take = (f) => () => {
    const at = place; // the next one may be asked for before this one is there
    byId("finder").close();
    page.edit(() => {
      const path = /\/\d+$/.test(at) ? at : ChainCards.end(at);
      ChainCards.close();
      ChainCards.open(path);
      return { action: "insert", path, value: f.step, next: `${path} open` };
    });
  };
  const search = tried(async () => {
    const mine = ++asked;
    const found = await run("Chain.FindStep", { query: byId("what").value, limit: 20, builtin: byId("builtin").checked });
    if (mine !== asked) return;
    byId("found").replaceChildren(...(found.length ? found.map((f) => make("li", {}, make("button", { type: "button", class: "choice", "data-op": f.op || f.kind, onclick: take(f) },
      make("strong", {}, f.label), f.op && f.op !== f.label ? make("code", {}, f.op) : null, make("span", { class: "soft small" }, f.description)))) : [make("li", { class: "soft" }, "Nothing found.")]));
  }, false);

  // fail shows an error of a run at the card of its step.
  const fail = (error) => {
    const card = ChainCards.numbered(Number(/: step (\d+): /.exec(error.message)?.[1]));
    byId("outcome").replaceChildren(make("span", { class: "wrong" }, error.message));
    if (!card) return;
    did = new Map([[card.line, { error: error.message.replace(/^.*?: step \d+: /, "") }]]);
    did.failed = true;
    draw();
    byId("cards").querySelector(`[data-path="${CSS.escape(card.path)}"]`)?.scrollIntoView({ block: "center" });
  };

  // attempt runs the chain, after the edits that go on. What an earlier run did is gone from the cards at once, and the buttons
  // wait for the end, so that no answer is taken for that of another run.
  const attempt = (dry) => tried(() => disabling([byId("dry"), byId("go")], async () => {
    byId("result").replaceChildren();
    byId("result").hidden = true;
    byId("outcome").textContent = "Running…";
    did = null;
    page.draw();
    await work;
    try {
      const { text, trace, waits } = await ChainRun.start(chosen, test.given, dry, source.value === saved ? undefined : source.value);
      did = trace && ChainRun.steps(trace);
      byId("result").textContent = text;
      byId("result").hidden = false;
      byId("outcome").textContent = dry ? "Dry run: nothing was changed. The cards show what each step would change." : waits ? "The chain has run up to a step that waits; see Runs." : "The chain has run.";
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 401) {
        byId("outcome").textContent = "";
        throw error;
      }
      fail(error);
      return;
    }
    draw();
    byId("outcome").scrollIntoView({ block: "nearest" });
  }));

  const restored = async (version) => {
    if (!await leave()) return;
    if (!await Keep.act("Chain", "chain", "Restore", { name: chosen, version }, token)) return;
    const read = await run("Chain.Read", { name: chosen });
    await write(read.source, chosen, read.changeToken);
    await history();
  };
  const history = async () => {
    byId("versions").querySelector("ul").replaceChildren(...await ChainRun.versions(chosen, restored));
    byId("versions").hidden = false;
  };

  source.addEventListener("input", changed);
  byId("search").addEventListener("input", list);
  byId("new").addEventListener("click", open(""));
  byId("what").addEventListener("input", () => {
    clearTimeout(search.timer);
    search.timer = setTimeout(search, 150);
  });
  byId("builtin").addEventListener("change", search);
  byId("finder").addEventListener("keydown", (e) => {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    const stops = [byId("what"), ...byId("found").querySelectorAll("button")];
    const next = stops[stops.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    e.preventDefault();
    next.focus();
  });
  byId("what").addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    byId("found").querySelector("button")?.click();
  });
  byId("undo").addEventListener("click", tried(async () => {
    await work;
    source.value = past.pop();
    did = null;
    await check();
  }));
  byId("history").addEventListener("click", tried(history));
  byId("users").addEventListener("click", tried(async () => {
    const uses = await run("Chain.FindUses", { name: chosen });
    byId("uses").querySelector("ul").replaceChildren(...(uses.length ? uses.map((u) => make("li", {}, make("span", { class: "tag" }, u.kind),
      u.kind === "chain" ? make("button", { type: "button", class: "quiet", onclick: open(u.name) }, u.name) : make("code", {}, u.name),
      make("span", { class: "soft small" }, u.node ? `node ${u.node}` : `line ${u.line}`))) : [make("li", { class: "soft" }, "Nothing names this chain.")]));
    byId("uses").hidden = false;
  }));
  byId("edit").addEventListener("submit", tried(async () => {
    await work;
    const text = source.value;
    const made = await Keep.save("Chain", "chain", { source: text }, token);
    if (!made) return;
    if (made.name !== chosen) window.history.replaceState(null, "", address(made.name));
    if (made.source !== undefined) return void await write(made.source, made.name, made.changeToken);
    chosen = made.name;
    saved = text;
    token = made.changeToken;
    byId("title").textContent = chosen;
    ready();
    await load();
    good = { text, words: `Saved ${made.name}, version ${made.version}.` };
    byId("state").textContent = good.words;
    byId("state").className = "tag good";
  }));
  byId("remove").addEventListener("click", tried(async () => {
    if (!await Dialogs.confirm("Delete the chain", `Delete ${chosen}? Its versions stay readable.`, "Delete")) return;
    if (!await Keep.act("Chain", "chain", "Delete", { name: chosen }, token)) return;
    window.history.replaceState(null, "", location.pathname);
    await write(empty, "", "");
    await load();
  }));
  byId("schedule").addEventListener("click", tried(async () => {
    if (source.value !== saved) throw new Error("Save the chain first: a schedule runs what is saved.");
    const name = await ChainSchedule.open(chosen, outline, test.given);
    if (!name) return;
    byId("done").replaceChildren(`${name} is scheduled. `, make("a", { href: `${site.prefix}/ui/admin#schedules` }, "Show the schedules"), " · ", make("a", { href: `${site.prefix}/ui/runs` }, "Show the runs"));
    byId("done").hidden = false;
  }));
  byId("try").addEventListener("submit", (e) => attempt(e.submitter?.value === "dry")(e));
  // named opens the chain that the address names, and the card of the line behind it.
  const named = async () => {
    const [, name, line] = /^#([^:]+):?(\d*)$/.exec(location.hash) || [];
    if (!await leave()) return window.history.pushState(null, "", address(chosen));
    if (!name) return write(empty, "", "");
    const mine = ++opens;
    const read = await run("Chain.Read", { name: decodeURIComponent(name) });
    if (mine !== opens) return;
    await write(read.source, read.name, read.changeToken);
    const card = byId("cards").querySelector(`[data-step="${line}"]`);
    if (!card) return;
    ChainCards.open(card.dataset.path);
    draw();
    byId("cards").querySelector(`[data-step="${line}"]`).scrollIntoView({ block: "center" });
    byId("cards").querySelector(`[data-step="${line}"] .title`).focus({ preventScroll: true });
  };
  window.addEventListener("popstate", tried(named, false));
  source.value = empty;
  tried(async () => {
    await load();
    await named();
  })();
})();
