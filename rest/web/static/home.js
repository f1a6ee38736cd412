// The console's home page: what needs the attention of the person who signed in. Everybody writes and reviews; who builds chains
// sees runs that failed or wait, and administrators the state of the server.
"use strict";
(() => {
  const missing = (value) => (error) => { // an operation or address that this person or server does not have
    if (![401, 403, 404].includes(error.status)) throw error;
    return value;
  };
  const link = (to, ...text) => make("a", { href: site.prefix + to }, ...text);
  const item = (main, ...soft) => make("li", {}, make("div", {}, main, make("p", { class: "small" }, ...soft)));

  // card is a list of a few things with a link to the page that has all; without any, words that say so.
  const card = (id, title, to, items, empty) => make("section", { class: "panel", id, "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title, make("a", { class: "small", href: site.prefix + to, "aria-label": `All: ${title}` }, "All")),
    make("ul", { class: "list", "aria-labelledby": `${id}-title` }, ...(items.length ? items : [make("li", { class: "soft" }, empty)])));

  const tasks = async () => {
    await Flow.read();
    const { answer } = await call("GET", "/api/v1/task?pageSize=5");
    return card("tasks", "Tasks that wait for you", "/ui/tasks", answer.entries.map((t) => {
      const late = t.dueDate && new Date(t.dueDate) < new Date();
      return item(link(`/ui/tasks#${t.id}`, Flow.say(t.name, t.nodeName || "task")), Flow.say(t.workflowTitle, t.workflowModelName || ""), t.dueDate ? make("span", { class: `tag ${late ? "bad" : ""}` }, late ? "was due " : "due ", moment(t.dueDate)) : "");
    }), "No task waits for you.");
  };

  const documents = async () => {
    const query = `SELECT * FROM Document WHERE dc:lastContributor = '${site.user.replace(/['\\]/g, "\\$&")}' AND ecm:isVersion = 0 AND ecm:isTrashed = 0 AND ecm:mixinType <> 'HiddenInNavigation' ORDER BY dc:modified DESC`;
    const { answer } = await call("GET", `/api/v1/search/lang/NXQL/execute?pageSize=5&query=${encodeURIComponent(query)}`, undefined, { properties: "dublincore" });
    return card("documents", "Documents you changed", "/ui/documents", answer.entries.map((d) => item(link(`/ui/documents#${encodeURIComponent(d.repository || "default")}/${d.uid}`, d.title || d.path), `${d.type} · `, ago(d.properties["dc:modified"] || d.lastModified))), "You have not changed a document yet.");
  };

  const started = async () => {
    const all = (await run("Workflow.List", {}).catch(missing({ entries: [] }))).entries || [];
    return all.length ? card("started", "Workflows you started", "/ui/documents", all.slice(0, 5).map((w) => item(make("strong", {}, Flow.say(w.title, w.workflowModelName)), ...(w.attachedDocumentIds || []).slice(0, 3).map((d) => link(`/ui/documents#default/${d.id}`, "document ")))), "") : null;
  };

  const runs = (id, title, state, empty) => async () => {
    const page = await run("Run.List", { state, limit: 5 }).catch(missing(null));
    if (!page || (!page.entries.length && !empty)) return null;
    return card(id, title, `/ui/runs?state=${state}`, page.entries.map((r) => item(link(`/ui/runs#${r.id}`, make("code", {}, r.op)), `${r.user} · `, ago(r.start), r.error ? ` · ${r.error.slice(0, 120)}` : "")), empty);
  };

  const chains = async () => {
    const all = await run("Chain.List", {}).catch(missing(null));
    return all && card("chains", "Chains changed last", "/ui/chains", [...all].sort((a, b) => b.time.localeCompare(a.time)).slice(0, 5).map((c) => item(link(`/ui/chains#${encodeURIComponent(c.name)}`, c.name), `version ${c.version}, ${c.author}, `, ago(c.time))), "No chains yet.");
  };

  // steps lead somebody new from the first file to a chain that runs by itself. Those that were made have a tick; once all were, the
  // card is gone.
  const steps = async (me) => {
    if (!me.isAdministrator) return null;
    const [{ answer: mine }, made, planned, ran] = await Promise.all([
      call("GET", `/api/v1/search/lang/NXQL/execute?pageSize=1&query=${encodeURIComponent(`SELECT * FROM Document WHERE dc:creator = '${site.user.replace(/['\\]/g, "\\$&")}' AND ecm:mixinType != 'Folderish' AND ecm:isTrashed = 0`)}`),
      run("Chain.List", {}).catch(missing([])), run("Schedule.Status", {}).catch(missing([])), run("Run.List", { limit: 1 }).catch(missing({ entries: [] }))]);
    const all = [
      [mine.entries.length, "/ui/documents", "Put a file into a folder", "Drop it on the page, or choose Upload."],
      [made.some((c) => c.author !== "system"), "/ui/chains", "Build a chain", "Search for what each step is to do, fill in its form, and try it with a dry run."],
      [planned.length, "/ui/chains", "Run it every night", "Open the chain and choose Schedule."],
      [ran.entries.length, "/ui/runs", "Look at a run", "Each step with its input, output and time."],
    ];
    if (all.every(([done]) => done)) return null;
    return make("section", { class: "panel", id: "steps", "aria-labelledby": "steps-title" }, make("h2", { id: "steps-title" }, "First steps", make("a", { class: "small", href: `${site.prefix}/docs/build` }, "Tutorial")),
      make("ol", { class: "list", "aria-labelledby": "steps-title" }, ...all.map(([done, to, what, how]) => make("li", {}, make("div", {}, link(to, what), " ", done ? make("span", { class: "tag good" }, "done") : null, make("p", { class: "small" }, how))))));
  };

  const server = async () => {
    const [response, dead, schedules] = await Promise.all([fetch(`${site.prefix}/readyz`, { headers: { Accept: "application/json" } }), run("Job.List", { state: "dead", limit: 5 }), run("Schedule.Status", {}).catch(missing([]))]);
    const checks = Object.entries(await response.json().catch(() => ({})));
    const bad = checks.filter(([, v]) => !String(v).startsWith("ok"));
    const failed = schedules.filter((s) => s.failure);
    return card("server", "The server", "/ui/admin#server", [
      item(make("strong", {}, bad.length ? bad.map(([k, v]) => `${k}: ${v}`).join("; ") : "Everything works."), make("span", { class: `tag ${bad.length ? "bad" : "good"}` }, response.ok ? "ready" : "not ready")),
      item(link("/ui/runs", dead.length ? `Dead jobs: ${dead.length}${dead.length === 5 ? " or more" : ""}` : "No dead jobs"), ...dead.slice(0, 2).map((j) => `${j.kind}: ${(j.failure || "").slice(0, 100)} `)),
      item(link("/ui/admin#schedules", failed.length ? `Failed schedules: ${failed.map((s) => s.name).join(", ")}` : `Schedules: ${schedules.length}`), ""),
      item(link("/ui/admin#figures", "Figures of the last day"), ""),
    ], "");
  };

  tried(async () => {
    const { answer: me } = await call("GET", "/api/v1/me");
    const cards = await Promise.all([steps(me), tasks(), documents(), started(), ...(me.isAdministrator ? [server(), runs("failed", "Runs that failed", "failed", "No run failed in the last week.")(), runs("waiting", "Runs that wait", "waiting", "")(), chains()] : [runs("failed", "Runs that failed", "failed", "")(), runs("waiting", "Runs that wait", "waiting", "")()])]);
    const shown = cards.filter(Boolean);
    byId("cards").replaceChildren(...(me.isAdministrator ? [...shown.filter((c) => c.id === "steps" || c.id === "server"), ...shown.filter((c) => c.id !== "steps" && c.id !== "server")] : shown));
  })();
})();
