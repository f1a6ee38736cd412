// The console's page of runs: find, show, compare, repeat, stop; what is scheduled, and jobs.
"use strict";
(() => {
  const at = "/api/v1/automation/runs";
  let administrator = false;
  let finds = 0; // the newest search; answers of older ones are dropped
  let opens = 0; // and the run that was opened last
  const marked = []; // ids of the runs that are compared, two at most
  const badge = (state) => make("span", { class: `tag ${{ done: "good", failed: "bad", dead: "bad" }[state] || ""}` }, state);
  const hasEnded = (r) => ["done", "failed", "stopped"].includes(r.state);
  const text = (v) => (v === undefined || v === null ? "" : typeof v === "string" ? v : JSON.stringify(v));

  const say = (words) => {
    byId("done").textContent = words;
    byId("done").hidden = !words;
  };

  // refocus puts the focus on the button of a name in a section that was drawn again, or on the section if the button is gone.
  const refocus = (section, name) => {
    if (section.hidden) return byId("main").focus();
    const again = section.querySelector(`[aria-label="${CSS.escape(name)}"]`);
    if (!again) section.tabIndex = -1;
    (again || section).focus({ preventScroll: true });
  };

  // button carries out an act on a run, schedule or job, shows everything again and says what the act returned.
  const button = (label, name, act, kind = "quiet") => make("button", { type: "button", class: kind, "aria-label": `${label} ${name}`, onclick: tried(async (e) => {
    const section = e.target.closest("section");
    const said = await act();
    if (said === false) return;
    await show();
    say(said === true || !said ? "" : said);
    if (section?.isConnected) refocus(section, `${label} ${name}`);
  }) }, label);

  const stop = (r) => button(r.state === "running" ? "Cancel" : "Stop", r.op, async () => {
    if (!confirm(r.state === "running" ? `Cancel ${r.op}? All changes of the call are undone.` : `Stop ${r.op}? What it has done stays.`)) return false;
    await run("Run.Stop", { id: r.id });
    return `${r.op} is stopped.`;
  }, "quiet danger");

  // goOn has a chain that waits go on. One that failed may do so in a version in which the cause is fixed. The list is old if the chain
  // has gone on by itself meanwhile.
  const goOn = async (r) => {
    let asked = false;
    const version = make("select", { name: "version" }, make("option", { value: "same" }, r.version ? `as it began: ${r.version}` : "as it began"), make("option", { value: "latest" }, "the latest"));
    await Dialogs.open({ title: `Continue ${r.op}`, action: "Continue", body: [
      make("p", { class: "soft" }, r.error ? "It is tried again from the step that failed." : "It does not wait any longer."),
      make("label", { class: "field" }, "Version of the chain", version, make("p", {}, "The latest version must wait at the same step.")),
    ], act: async () => {
      asked = true;
      await run("Run.Continue", { id: r.id, version: version.value });
    } });
    return asked && `${r.op} goes on.`;
  };

  // waits says what a chain waits for, and until when.
  const waits = (r) => {
    const until = r.until ? ` until ${new Date(r.until).toLocaleString()}` : "";
    return { time: `waits${until}`, batch: "has more items to work on", task: `waits for the end of a task${until}` }[r.for] || `waits for ${r.event || r.for}${until}`;
  };

  const item = (r) => {
    const ended = hasEnded(r);
    const mark = make("button", { type: "button", class: "quiet", "aria-pressed": String(marked.includes(r.id)), "aria-label": `Compare ${r.op}, ${r.id}`, onclick: tried(() => choose(r.id, mark)) }, "Compare");
    return make("li", { "data-run": r.id, "data-state": r.state },
      make("div", {},
        make("code", {}, r.op), " ", badge(r.state), r.version ? make("span", { class: "tag" }, `version ${r.version}`) : null, r.repeats ? make("span", { class: "tag" }, "again") : null, r.began ? make("span", { class: "tag" }, "went on") : null,
        make("p", {}, `${r.user} · `, ago(r.start), ` · ${lasts(r.duration)}`, r.for ? ` · ${waits(r)}` : "", ...(r.stoppedBy ? [` · stopped by ${r.stoppedBy} `, ago(r.stoppedAt)] : [])),
        r.error ? make("p", { class: "small" }, r.error) : null),
      ended && r.state !== "done" && r.door !== "listener" ? make("button", { type: "button", class: "quiet", "aria-label": `Edit and run ${r.op} again`, onclick: tried(() => open(r.id, true)) }, "Edit and run again") : null,
      r.state === "waiting" ? button("Continue", r.op, () => goOn(r)) : null,
      ended ? null : stop(r),
      ended ? mark : null,
      make("button", { type: "button", class: "quiet", "aria-label": `Show ${r.op}, ${r.state}`, onclick: tried(() => open(r.id)) }, "Show"));
  };

  const find = async (before) => {
    const params = { limit: 50 };
    for (const [name, value] of new FormData(byId("find"))) {
      if (value && name === "hours") params.since = new Date(Date.now() - value * 3600e3).toISOString();
      else if (value) params[name] = value;
    }
    if (before) params.before = before;
    const mine = ++finds;
    const page = await run("Run.List", params);
    if (mine !== finds) return;
    const rows = page.entries.map(item);
    if (before) byId("list").append(...rows);
    else byId("list").replaceChildren(...(rows.length ? rows : [make("li", { class: "soft" }, "No runs.")]));
    byId("older").parentElement.hidden = !page.before;
    byId("older").onclick = tried(() => find(page.before));
  };

  const facts = (list) => make("dl", { class: "facts" }, ...list.filter(([, v]) => v !== "" && v !== undefined).flatMap(([name, v]) => [make("dt", {}, name), make("dd", {}, v)]));

  // culprit is the line of a chain at which it failed, 0: it did not.
  const culprit = (s) => (s.steps || []).reduce((line, t) => (t.error ? culprit(t) || t.line || line : line), 0);

  // edit leads from a chain that ran to its cards, and to the one that failed.
  const edit = (s) => (s.steps?.some((t) => t.line) && s.op.includes(".") ? make("a", { class: "button quiet", href: `${site.prefix}/ui/chains#${encodeURIComponent(s.op)}${s.error ? `:${culprit(s)}` : ""}` }, s.error ? "Edit the step that failed" : "Edit the chain") : null);

  // step is one operation of the tree, with those it ran.
  const step = (s) => make("li", {}, make("details", { open: Boolean(s.error || s.console || s.steps) },
    make("summary", {}, make("code", {}, s.op), s.line ? make("span", { class: "tag" }, `line ${s.line}`) : null, make("span", { class: "soft" }, lasts(s.duration)), s.error ? badge("failed") : null),
    edit(s),
    facts([["Input", s.input], ...Object.entries(s.params || {}).map(([name, v]) => [name, v]), ["Output", s.output], ["Error", s.error]]),
    s.console ? make("pre", { class: "result", tabindex: "0", "aria-label": "Console output" }, s.console.join("\n")) : null),
  s.steps ? make("ol", { class: "steps" }, ...s.steps.map(step)) : null);

  // others are the versions of a chain or script besides the one that ran and the latest, which only administrators run.
  const others = async (r) => {
    if (!administrator || !r.version) return [];
    try {
      const { answer: op } = await call("GET", `/api/v1/automation/${encodeURIComponent(r.op)}`);
      const all = await run(`${op.category === "Chain" ? "Chain" : "Script"}.Versions`, { name: r.op });
      return all.slice(1).map((v) => v.version).filter((v) => v !== r.version);
    } catch (error) {
      if (error.status !== 404) throw error;
      return []; // it is gone
    }
  };

  // form makes a run again with values that can be changed. A member that is left as it was is not sent, so that what the
  // server has not kept stays missing unless somebody writes it.
  const form = (r, versions) => {
    const result = make("pre", { class: "result", tabindex: "0", "aria-label": "Result", hidden: true });
    const shown = (v) => (v === undefined ? "" : JSON.stringify(v, null, 2));
    const field = (name, label, rows) => make("label", { class: "field" }, label, make("textarea", { name, rows, class: "mono", spellcheck: "false", autocapitalize: "off" }, shown(r[name])));
    const out = make("form", { id: "again" }, make("h3", {}, "Run again"),
      r.left ? make("p", { class: "soft" }, `Not stored: ${r.left.join(", ")}. Add it to run again.`) : null,
      field("input", "Input as JSON", 2), field("params", "Parameters as JSON", 5),
      r.version ? make("label", {}, "Version", make("select", { name: "version" }, make("option", { value: "latest" }, "the latest"), make("option", { value: "same" }, `as it was: ${r.version}`), ...versions.map((v) => make("option", { value: v }, `version ${v}`)))) : null,
      make("div", { class: "row" }, make("button", { class: "primary" }, "Run again")), result);
    out.addEventListener("submit", tried(async () => {
      result.hidden = true;
      const f = new FormData(out);
      const body = {};
      for (const name of ["input", "params"]) {
        if (!f.get(name).trim() || f.get(name) === shown(r[name])) continue;
        try {
          body[name] = JSON.parse(f.get(name));
        } catch (error) {
          out.elements[name].focus();
          throw new Error(`${{ input: "Input", params: "Parameters" }[name]}: not JSON: ${error.message}`, { cause: error });
        }
      }
      const { answer, status } = await call("POST", `${at}/${r.id}/retry?version=${f.get("version") || "same"}`, body);
      result.textContent = status === 204 ? "Done, without a result." : typeof answer === "string" ? answer.slice(0, 20000) : JSON.stringify(answer, null, 2);
      result.hidden = false;
      result.focus();
      await find();
    }));
    return out;
  };

  // parts are the runs with which a chain went on after it had waited.
  const parts = (r) => {
    const link = (id, ...text) => make("a", { href: `#${id}`, onclick: tried(() => open(id)) }, ...text);
    if (r.began) return [make("p", {}, "This run goes on with a chain after it has waited. ", link(r.began, "Show the run that began it"))];
    if (!r.parts?.length) return [];
    return [make("h3", {}, "Went on"), make("ol", { class: "list", "aria-label": "Runs with which the chain went on" }, ...r.parts.map((p) => make("li", {}, make("div", {}, link(p.id, new Date(p.start).toLocaleString()), " ", badge(p.state), p.version !== r.version ? make("span", { class: "tag" }, `version ${p.version}`) : null,
      make("p", {}, lasts(p.duration)), p.error ? make("p", { class: "small" }, p.error) : null))))];
  };

  const open = async (id, edit) => {
    const mine = ++opens;
    const r = await run("Run.Get", { id }).catch(async (error) => {
      if (error.status === 404) await find(); // the list shows a call that has ended and was not recorded
      throw error;
    });
    const ended = hasEnded(r);
    const again = ended && r.door !== "listener";
    const versions = again ? await others(r) : [];
    if (mine !== opens) return;
    history.replaceState(null, "", `#${id}`);
    const box = byId("one");
    box.replaceChildren(make("div", { class: "head" }, make("h2", { id: "one-title" }, r.op), badge(r.state), r.state === "waiting" ? button("Continue", r.op, () => goOn(r)) : null, ended ? null : stop(r),
      make("button", { type: "button", class: "quiet", onclick: () => {
        box.hidden = true;
        history.replaceState(null, "", location.pathname);
        byId("list").querySelector(`[data-run="${CSS.escape(id)}"] button:last-child`)?.focus();
      } }, "Close")),
    ...(r.error ? [make("p", { class: "alert" }, r.error)] : []),
    facts([["User", r.user], ["Began", new Date(r.start).toLocaleString()], ["Duration", lasts(r.duration)], ["Stopped by", r.stoppedBy], ["Stopped", r.stoppedAt && new Date(r.stoppedAt).toLocaleString()], ["From", r.door], ["Request", r.requestId], ["Version", r.version && String(r.version)], ["Repeats", r.repeats]]),
    ...(r.state === "waiting" ? [make("p", {}, `It ${waits(r)}`, r.line ? `, at line ${r.line}.` : ".")] : []),
    ...parts(r),
    ...(r.trace ? [make("h3", {}, "Steps"), make("ol", { class: "steps" }, step(r.trace))] : []),
    ...(again ? [form(r, versions)] : []));
    box.hidden = false;
    const first = edit && box.querySelector("[name=params]");
    (first || box).focus();
    (first || box).scrollIntoView({ block: first ? "center" : "start" });
  };

  // flat lists the steps of a tree with their depth.
  const flat = (s, depth = 0) => (s ? [{ ...s, depth }, ...(s.steps || []).flatMap((t) => flat(t, depth + 1))] : []);

  const compare = async () => {
    const box = byId("compared");
    const [a, b] = (await Promise.all(marked.map((id) => call("GET", `${at}/${encodeURIComponent(id)}`)))).map((x) => x.answer);
    const row = (name, x, y) => make("tr", { class: x === y ? null : "differs" }, make("th", { scope: "row" }, name), make("td", {}, x), make("td", {}, y), make("td", {}, x === y ? "" : "differs"));
    const [left, right] = [flat(a.trace), flat(b.trace)];
    const rows = [row("State", a.state, b.state), row("Version", text(a.version), text(b.version)), row("Input", text(a.input), text(b.input)), row("Error", text(a.error), text(b.error))];
    for (const name of new Set([...Object.keys(a.params || {}), ...Object.keys(b.params || {})])) rows.push(row(name, text(a.params?.[name]), text(b.params?.[name])));
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      const [x, y] = [left[i], right[i]];
      const value = (s) => (s ? `${s.op}: ${s.error || s.output || "no output"}` : "not run");
      rows.push(row(i ? `${"› ".repeat((x || y).depth)}Step ${i}` : "Result", value(x), value(y))); // errors number the steps of a chain in this way
      rows.push(make("tr", {}, make("th", { scope: "row" }, "Duration"), make("td", {}, x ? lasts(x.duration) : ""), make("td", {}, y ? lasts(y.duration) : ""), make("td", {}, "")));
    }
    box.replaceChildren(make("div", { class: "head" }, make("h2", { id: "compared-title" }, "Two runs"), make("button", { type: "button", class: "quiet", onclick: () => {
      marked.length = 0;
      box.hidden = true;
      for (const m of byId("list").querySelectorAll("[aria-pressed=true]")) m.setAttribute("aria-pressed", "false");
    } }, "Close")),
    make("table", {}, make("caption", { class: "only-read" }, "Two runs side by side"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Value"), ...[a, b].map((r) => make("th", { scope: "col" }, `${r.op}, ${new Date(r.start).toLocaleString()}`)), make("th", { scope: "col" }, "Difference"))),
      make("tbody", {}, ...rows)));
    box.hidden = false;
    box.focus();
    box.scrollIntoView();
  };

  const choose = async (id, mark) => {
    const i = marked.indexOf(id);
    if (i >= 0) marked.splice(i, 1);
    else marked.push(id);
    mark.setAttribute("aria-pressed", String(i < 0));
    if (marked.length > 2) {
      const dropped = marked.shift();
      byId("list").querySelector(`[data-run="${CSS.escape(dropped)}"] [aria-pressed]`)?.setAttribute("aria-pressed", "false");
    }
    if (marked.length === 2) await compare();
  };

  // fill shows a section if there is anything in it, and if the server has the operation.
  const fill = async (id, name, params, line) => {
    const list = await run(name, params).catch((error) => {
      if (error.status !== 404) throw error;
      return [];
    });
    const held = byId(id).contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") || "" : null;
    byId(id).querySelector("ul").replaceChildren(...(Array.isArray(list) ? list : []).map(line));
    byId(id).hidden = !Array.isArray(list) || !list.length;
    if (held !== null) refocus(byId(id), held);
  };

  const schedule = (s) => make("li", { "data-schedule": s.name }, make("div", {}, make("code", {}, s.name), " ", badge(s.state), make("p", {}, `${s.run} as ${s.user}`, s.next ? ` · next ${new Date(s.next).toLocaleString()}` : "", s.last ? ` · last ${new Date(s.last).toLocaleString()}` : ""), s.failure ? make("p", { class: "small" }, s.failure) : null),
    button("Run now", s.name, async () => {
      await run("Schedule.RunNow", { name: s.name });
      return `${s.name} runs as soon as possible.`;
    }),
    s.state === "stopped" ? button("Resume", s.name, async () => {
      await run("Schedule.Resume", { name: s.name });
      return `${s.name} is on again.`;
    }) : button("Pause", s.name, async () => {
      await run("Schedule.Stop", { name: s.name });
      return `${s.name} is paused.`;
    }));

  // tries says how often a job was tried, and when it is next.
  const tries = (j) => {
    const times = j.tries === 1 ? "tried once" : `tried ${j.tries} times`;
    if (j.state === "dead") return [`${times}, given up `, ago(j.due)];
    if (j.state === "running") return [`try ${j.tries}`];
    return [...(j.tries ? [`${times} · next try `] : ["due "]), new Date(j.due) > Date.now() + 60e3 ? ago(j.due) : "in a moment"];
  };
  const job = (j) => make("li", { "data-job": j.id }, make("div", {}, make("code", {}, j.kind), " ", badge(j.state), make("p", {}, `${j.user || "server"} · `, ...tries(j)), j.failure ? make("p", { class: "small" }, j.failure) : null),
    j.state === "running" ? null : button("Retry", `${j.kind}, ${j.id}`, async () => {
      await run("Job.Retry", { id: j.id });
      follow();
      return `${j.kind} is tried again.`;
    }),
    j.state === "running" ? null : button("Delete", `${j.kind}, ${j.id}`, async () => confirm(`Delete the job ${j.kind}? It will not run.`) && (await run("Job.Delete", { id: j.id }), `${j.kind} was deleted.`), "quiet danger"));
  const jobs = () => fill("jobs", "Job.List", { limit: 20 }, job);

  // follow shows what becomes of a job that was begun a moment ago.
  let following = 0;
  const follow = (left = 8) => {
    clearTimeout(following);
    following = setTimeout(() => jobs().then(() => left && follow(left - 1), complain), 500);
  };

  const slow = (query) => make("tr", {},
    make("td", {}, make("code", {}, query.query), query.refused ? make("span", { class: "tag bad" }, `refused ${query.refused} times`) : null),
    make("td", {}, query.count),
    make("td", { title: query.last }, `${(query.longest / 1000).toFixed(1)} s`),
    make("td", {}, `${query.rows} rows, ${query.documents} documents`),
    make("td", {}, query.advice ? make("code", {}, query.advice) : "", query.automatic ? make("span", { class: "tag" }, `made by the server: ${query.automatic}`) : null));

  const show = async () => {
    await find();
    // Only administrators may see the rest.
    const { answer: me } = await call("GET", "/api/v1/me");
    administrator = me.isAdministrator;
    if (!administrator) return;
    await fill("schedules", "Schedule.Status", {}, schedule);
    await jobs();
    const queries = await run("Repository.SlowQueries");
    byId("queries").replaceChildren(...queries.map(slow));
    byId("slow").hidden = !queries.length;
  };
  byId("find").addEventListener("submit", tried(() => find()));
  for (const [name, value] of new URLSearchParams(location.search)) { // links name what they want to be found
    const field = byId("find").elements[name];
    if (field) field.value = value;
  }
  tried(async () => {
    const asked = decodeURIComponent(location.hash.slice(1)); // read first: a run opened meanwhile changes the address
    await show();
    if (asked) await open(asked);
  })();
})();
