// The workflows of a document: what runs, whom it waits for, and what can be started. For the page of documents.
"use strict";
const Workflows = (() => {
  let about = null;
  let known = false;

  const asked = "runnableWorkflows,runningWorkflows,pendingTasks,permissions";
  const at = (d) => `/api/v1/repo/${encodeURIComponent(d.repository)}`;

  const refresh = async () => show((await call("GET", `${at(about)}/id/${about.uid}`, undefined, { "enrichers-document": asked })).answer);

  // running is a workflow with its graph, the tasks of it that wait for the signed-in user, and a way to end it.
  const running = (w, d) => {
    const title = Flow.say(w.title, w.name);
    const drawn = make("div", { class: "drawn", hidden: true });
    const mine = d.contextParameters.pendingTasks.filter((t) => t.workflowInstanceId === w.id);
    const graph = make("button", {
      class: "quiet", "aria-expanded": "false", "aria-label": `Graph of ${title}`, onclick: tried(async () => {
        drawn.hidden = !drawn.hidden;
        graph.setAttribute("aria-expanded", String(!drawn.hidden));
        if (!drawn.hidden) drawn.replaceChildren(Flow.picture((await call("GET", `${at(d)}/workflow/${w.id}/graph`)).answer, `Graph of ${title}`));
      }),
    }, "Graph");
    const mayCancel = w.initiator === site.user || d.contextParameters.permissions.includes("ManageWorkflows");
    const cancel = make("button", {
      class: "quiet danger", "aria-label": `Cancel ${title}`, onclick: tried(async () => {
        if (!confirm(`Cancel ${title}? Its open tasks are canceled.`)) return;
        await call("DELETE", `${at(d)}/workflow/${w.id}`);
        await refresh();
      }),
    }, "Cancel");
    return make("li", {},
      make("div", {}, make("strong", {}, title), make("p", { class: "small" }, `started by ${w.initiator}`)),
      ...mine.map((t) => make("a", { class: "button", href: `${site.prefix}/ui/tasks#${encodeURIComponent(d.repository)}/${t.id}` }, Flow.say(t.name, t.nodeName))), graph, mayCancel ? cancel : null, drawn);
  };

  const show = async (d) => {
    about = d;
    const { runnableWorkflows: models, runningWorkflows: all } = d.contextParameters;
    byId("workflows").hidden = !models.length && !all.length;
    if (byId("workflows").hidden) return;
    if (!known) await Flow.read();
    known = true;
    byId("workflows").querySelector("ul").replaceChildren(...all.map((w) => running(w, d)));
    byId("start").hidden = !models.length;
    byId("start").elements.model.replaceChildren(...models.map((m) => make("option", { value: m.name }, Flow.say(m.title, m.name))));
  };

  byId("start").addEventListener("submit", tried(async () => {
    await call("POST", `${at(about)}/id/${about.uid}/@workflow`, { "entity-type": "workflow", workflowModelName: byId("start").elements.model.value });
    await refresh();
  }));

  return { asked, show };
})();
