// Panes of the page of administration that look at the server: workflows, keys, the audit log, readiness, figures, settings.
"use strict";
const AdminPanes = (() => {
  const size = Form.size;
  const table = (title, heads, rows) => make("div", { class: "panel scroll" }, make("table", {}, make("caption", {}, title), make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h || make("span", { class: "only-read" }, "Change"))))), make("tbody", {}, ...rows)));
  const row = (first, ...cells) => make("tr", {}, make("th", { scope: "row" }, first), ...cells.map((c) => make("td", {}, c)));
  const when = (text) => (text ? new Date(text).toLocaleString() : "");
  const absent = (error) => { // an operation that this server does not have
    if (error.status !== 404) throw error;
    return null;
  };

  // workflows shows the models, how many tasks wait at each node, and the instances.
  const workflows = async (pane, say) => {
    await Flow.read();
    const at = "/api/v1";
    const drawn = make("div", { class: "panel", hidden: true, tabindex: "-1" });
    const picture = async (path, title, counts = {}) => {
      const { answer } = await call("GET", path);
      for (const n of answer.nodes) n.count = counts[n.id];
      drawn.replaceChildren(make("div", { class: "head" }, make("h2", {}, title), make("button", { type: "button", class: "quiet", onclick: () => (drawn.hidden = true) }, "Close")), Flow.picture(answer, `Graph of ${title}`));
      drawn.hidden = false;
      drawn.focus();
      drawn.scrollIntoView({ block: "nearest" });
    };
    const [models, running, waiting] = await Promise.all([
      call("GET", `${at}/workflowModel`).then((a) => a.answer.entries),
      run("Workflow.List", { all: true }),
      run("Repository.ResultSetQuery", { query: "SELECT nt:processName, nt:type FROM RoutingTask WHERE ecm:currentLifeCycleState = 'opened' AND ecm:isTrashed = 0", pageSize: 1000 }),
    ]);
    const counts = {};
    for (const t of waiting.entries || []) {
      const of = (counts[t["nt:processName"]] ||= {});
      of[t["nt:type"]] = (of[t["nt:type"]] || 0) + 1;
    }
    const graphs = Object.fromEntries(await Promise.all(Object.keys(counts).map(async (name) => [name, await call("GET", `${at}/workflowModel/${encodeURIComponent(name)}/graph`).then((a) => a.answer.nodes, () => [])])));
    const node = (model, id) => Flow.say(graphs[model].find((n) => n.id === id)?.title, id);
    const places = (name) => Object.entries(counts[name] || {}).map(([id, n]) => `${node(name, id)}: ${n}`).join(", ");
    const instances = running.entries || [];
    const ids = [...new Set(instances.flatMap((i) => (i.attachedDocumentIds || []).map((d) => d.id)))].slice(0, 100);
    const named = ids.length ? await run("Repository.ResultSetQuery", { query: `SELECT ecm:uuid, dc:title FROM Document WHERE ecm:uuid IN (${ids.map((id) => `'${id}'`).join(", ")})`, pageSize: 100 }) : {};
    const titles = Object.fromEntries((named.entries || []).map((r) => [r["ecm:uuid"], r["dc:title"]]));
    pane.replaceChildren(
      table("Workflows", ["Workflow", "Running", "Tasks that wait", ""], models.map((m) => {
        const title = Flow.say(m.title, m.name);
        return row(title, String(instances.filter((i) => i.workflowModelName === m.name).length), places(m.name), make("button", { type: "button", class: "quiet", "aria-label": `Graph of ${title}`, onclick: tried(() => picture(`${at}/workflowModel/${encodeURIComponent(m.name)}/graph`, title, counts[m.name])) }, "Graph"));
      })), drawn,
      instances.length ? table("Instances that run", ["Workflow", "Started by", "Documents", ""], instances.map((i) => {
        const title = Flow.say(i.title, i.workflowModelName);
        return row(title, i.initiator, make("span", {}, ...(i.attachedDocumentIds || []).map((d, n) => make("a", { href: `${site.prefix}/ui/documents#default/${d.id}` }, `${titles[d.id] || `document ${n + 1}`} `))), make("span", { class: "row" },
          make("button", { type: "button", class: "quiet", "aria-label": `Graph of ${title}, ${i.id}`, onclick: tried(() => picture(`${at}/workflow/${i.id}/graph`, title)) }, "Graph"),
          make("button", { type: "button", class: "quiet danger", "aria-label": `Cancel ${title}, ${i.id}`, onclick: tried(async () => {
            if (!await Dialogs.confirm("Cancel the workflow", `Cancel ${title}? Its open tasks are canceled.`, "Cancel the workflow")) return;
            await call("DELETE", `${at}/workflow/${i.id}`);
            say("Canceled.");
            await workflows(pane, say);
          }) }, "Cancel")));
      })) : make("p", { class: "soft panel" }, "No workflow runs."));
  };

  const keys = async (pane, say) => {
    const all = await run("Key.List", {});
    all.sort((a, b) => Boolean(a.revoked) - Boolean(b.revoked) || b.id - a.id);
    pane.replaceChildren(all.length ? table("API keys of all users", ["Key", "User", "Scope", "Last used", "Expires", ""], all.map((k) => row(`${k.name || ""} #${k.id}`, k.user, k.scope === "read_write" ? "read and write" : "read", ago(k.lastUsed) || "never", moment(k.expires) || "never",
      k.revoked ? make("span", { class: "tag bad" }, "revoked") : make("button", { type: "button", class: "quiet danger", "aria-label": `Revoke key ${k.id} of ${k.user}`, onclick: tried(async () => {
        if (!await Dialogs.confirm("Revoke the key", `Revoke “${k.name || k.id}” of ${k.user}? Programs that use it stop working immediately.`, "Revoke")) return;
        await run("Key.Revoke", { id: k.id });
        say("Revoked.");
        await keys(pane, say);
      }) }, "Revoke")))) : make("p", { class: "soft panel" }, "Nobody has a key."));
  };

  const audit = async (pane) => {
    const field = (name, label, kind = "text") => make("label", {}, `${label} `, make("input", { name, type: kind, autocomplete: "off" }));
    const form = make("form", { class: "row panel" }, field("principalName", "User"), field("eventId", "Event"), field("docPath", "Path"), make("label", {}, "In ", make("select", { name: "hours" }, make("option", { value: "24" }, "the last day"), make("option", { value: "168" }, "the last week"), make("option", { value: "" }, "all time"))), make("button", {}, "Find"));
    const rows = Rows.list({ label: "Audit records", height: 56, empty: "No records.", load: async (after) => {
      const at = Number(after || 0);
      const [conditions, values] = [[], []];
      for (const [name, value] of new FormData(form)) {
        if (value && name === "hours") [conditions[conditions.length], values[values.length]] = ["log.eventDate >= ?", new Date(Date.now() - value * 3600e3).toISOString()];
        else if (value && name === "docPath") [conditions[conditions.length], values[values.length]] = ["log.docPath LIKE ?", `${value.replace(/[%_\\]/g, "\\$&")}%`];
        else if (value) [conditions[conditions.length], values[values.length]] = [`log.${name} = ?`, value];
      }
      const page = await run("Audit.QueryWithPageProvider", { query: `FROM LogEntry log${conditions.length ? ` WHERE ${conditions.join(" AND ")}` : ""} ORDER BY log.eventDate DESC`, queryParams: values, pageSize: 100, currentPageIndex: at });
      return { entries: page.entries, next: page.isNextPageAvailable ? String(at + 1) : undefined };
    }, fill: (e) => [make("span", { class: "what" }, make("strong", {}, e.eventId), make("span", { class: "soft small" }, [e.principalName, e.docPath, e.comment].filter(Boolean).join(" · "))), make("span", { class: "soft small" }, ago(e.eventDate))] });
    rows.element.tabIndex = 0; // nothing in it takes the focus, and it scrolls
    form.addEventListener("submit", tried(() => rows.refresh()));
    pane.replaceChildren(form, make("div", { class: "panel" }, rows.element));
    await rows.refresh();
  };

  const flat = (v, path = "") => (v && typeof v === "object" ? Object.entries(v).flatMap(([k, x]) => flat(x, path ? `${path} ${k}` : k)) : [[path, String(v)]]);
  const server = async (pane, say) => {
    const response = await fetch(`${site.prefix}/readyz`, { headers: { Accept: "application/json" } });
    const said = await response.text();
    let checks = {};
    try {
      checks = JSON.parse(said);
    } catch {
      checks = { state: said };
    }
    const about = await run("Server.Status", {});
    const content = about.content;
    pane.replaceChildren(...[
      table(response.ok ? "The server is ready" : "The server is not ready", ["Check", "State"], flat(checks).map(([k, v]) => row(Form.words(k.replace(/Status$/, "")), make("span", { class: `tag ${v.startsWith("ok") ? "good" : "bad"}` }, v)))),
      about.nodes.length ? table("Nodes", ["Node", "Host", "Version", "Started", "State"], about.nodes.map((n) => row(n.address, n.host, n.version, when(n.started), make("span", { class: `tag ${n.lost ? "bad" : "good"}` }, n.lost ? "lost" : "serves")))) : null,
      make("section", { class: "panel", "aria-labelledby": "content-title" }, make("h2", { id: "content-title" }, "Stored files"),
        content ? make("p", {}, `${content.verified} contents (${size(content.bytes)}) verified since the start. All content is read every ${span(content.every)}; `, content.last ? `the last time ended ${when(content.last)}.` : "the first time is under way.") : make("p", { class: "soft" }, "The content is not verified in the background here."),
        content ? make("p", {}, make("span", { class: `tag ${content.damaged ? "bad" : "good"}` }, content.damaged ? `${content.damaged} contents are damaged or missing` : "No damage is known.")) : null,
        make("button", { type: "button", onclick: tried(async () => {
          say("Verifying…");
          const found = await run("Repository.Verify", {});
          say("");
          const none = Array.isArray(found) && !found.length;
          await Dialogs.open({ title: "Verification of the store", action: "", cancel: "Close", wide: !none, body: none ? [make("p", {}, "No problem was found.")] : [make("pre", { class: "result", tabindex: "0", "aria-label": "Result" }, typeof found === "string" ? found : JSON.stringify(found, null, 2))] });
        }) }, "Verify the store now")),
      Backups.section(about.backups),
    ].filter(Boolean));
  };

  const figures = async (pane) => {
    const all = await run("Server.Figures", {});
    const of = (title, name, say) => Chart.of(title, all.map((f) => [Date.parse(f.time), f[name]]), say);
    const rate = (v) => `${v < 10 ? v.toFixed(1) : Math.round(v)} a second`;
    pane.replaceChildren(make("div", { class: "figures" }, of("Requests", "requests", rate), of("Server errors", "failed", rate), of("Response time", "response", (v) => `${v.toFixed(1)} ms`), of("Writes", "writes", rate), of("Waiting jobs", "jobs", String), of("Memory", "memory", size), of("Free disk", "disk", size)));
  };

  const settings = async (pane) => {
    const all = await run("Server.Settings", {}).catch(absent);
    const search = make("input", { type: "search", autocomplete: "off" });
    const changed = make("input", { type: "checkbox" });
    const value = (v) => (Array.isArray(v) ? v.join(", ") : String(v));
    const box = make("div");
    const show = () => {
      const found = (all || []).filter((s) => (s.name + s.doc).toLowerCase().includes(search.value.toLowerCase()) && (!changed.checked || s.from !== "default"));
      box.replaceChildren(found.length ? table("Settings in effect", ["Setting", "Value", "From", "Meaning"], found.map((s) => row(make("code", {}, s.name), value(s.value), s.from, s.doc))) : make("p", { class: "soft panel" }, all?.length ? "Nothing found." : "The settings of this server are not known."));
    };
    search.addEventListener("input", show);
    changed.addEventListener("change", show);
    pane.replaceChildren(make("div", { class: "row list-head" }, make("label", {}, "Search ", search), make("label", { class: "check" }, changed, "Only those that were set")), box);
    show();
  };

  // indexes shows those that the server has made by itself, and lets them be dropped.
  const indexes = async (pane, say) => {
    const all = await run("Repository.AutomaticIndexes", {});
    const kind = { complete: "good", dropped: "bad" };
    pane.replaceChildren(make("p", { class: "soft" }, "The server makes indexes for queries that are asked often and read much. ", make("a", { href: `${site.prefix}/docs/administer#automatic-indexes` }, "When it does"), ". Slow queries are listed under ", make("a", { href: `${site.prefix}/ui/runs#slow` }, "Runs"), "."),
      all.length ? table("Indexes made by the server", ["Type", "Index", "State", "Made", "Last used", ""], all.map((x) => row(x.type, make("code", {}, x.index), make("span", { class: `tag ${kind[x.state] || ""}` }, x.state), moment(x.made), x.used ? ago(x.used) : "never",
        x.state === "dropped" ? "" : make("button", { type: "button", class: "quiet danger", "aria-label": `Drop the index ${x.index} of ${x.type}`, onclick: tried(async () => {
          if (!await Dialogs.confirm("Drop the index", `Drop the index ${x.index} of ${x.type}? Queries that use it become slower. The server makes it again if they are asked as often as before.`, "Drop")) return;
          await run("Repository.DropIndex", { id: x.id });
          say("Dropped.");
          await indexes(pane, say);
        }) }, "Drop")))) : make("p", { class: "soft panel" }, "The server has made no index."));
  };

  return { table, row, workflows, keys, audit, server, figures, indexes, settings };
})();
