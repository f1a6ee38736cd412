// The console's page of tasks: the open ones of the signed-in user, and the form of one, whose repository,
// unless that is the usual one, and id the address ends with.
"use strict";
(() => {
  let inputs = {};
  let task = null;
  let at = "";
  let others = null;

  const due = (t) => {
    if (!t.dueDate) return null;
    const late = new Date(t.dueDate) < new Date();
    return make("span", { class: `tag${late ? " bad" : ""}` }, late ? "was due " : "due ", moment(t.dueDate));
  };
  const name = (t) => Flow.say(t.name, t.nodeName || "task");
  const names = (actors) => actors.map((a) => Flow.plain(a.id)).join(", ");
  const documents = (t) => t.targetDocumentIds.map((d) => make("a", { href: `${site.prefix}/ui/documents#${encodeURIComponent(d.repository || "default")}/${d.uid || d.id}` }, d.title || "document"));

  const item = (t) => make("li", {},
    make("div", {}, make("a", { href: `#${t.id}` }, make("strong", {}, name(t))), make("p", { class: "small" }, t.workflowInstanceId ? `${Flow.say(t.workflowTitle, t.workflowModelName)} of ${t.workflowInitiator} · ` : "", ...documents(t))),
    due(t));

  const list = pager({
    ask: async (page) => {
      const { answer } = await call("GET", `/api/v1/task?pageSize=20&currentPageIndex=${page - 1}`, undefined, { "fetch-task": "targetDocumentIds" });
      return { entries: answer.entries, more: answer.isNextPageAvailable };
    },
    draw: (tasks) => byId("list").replaceChildren(...(tasks.length ? tasks.map(item) : [make("li", { class: "soft" }, "No open tasks.")])),
  });

  const text = (v) => (v === null || v === undefined ? "" : Array.isArray(v) ? v.map((one) => Flow.plain(String(one))).join(", ") : typeof v === "object" ? v.name || JSON.stringify(v) : String(v));

  // field makes what a variable is filled in with, and notes how its value is read.
  const field = (f) => {
    const label = Flow.words(f.name);
    if (!f.writable) {
      const value = f.type === "date" && f.value ? moment(f.value) : text(f.value);
      return f.value === null || value === "" ? null : make("p", {}, make("strong", {}, `${label}: `), value);
    }
    if (f.list && f.people) {
      const people = Flow.people(label, f.value || []);
      inputs[f.name] = people.value;
      return make("fieldset", {}, make("legend", {}, label), people.element);
    }
    let e = make("input", { name: f.name, autocomplete: "off", value: text(f.value) });
    inputs[f.name] = () => e.value || null;
    if (f.list) {
      e = make("textarea", { name: f.name, rows: 3, placeholder: "One a line" }, (f.value || []).join("\n"));
      inputs[f.name] = () => e.value.split("\n").map((line) => line.trim()).filter(Boolean);
    } else if (f.values.length) {
      e = make("select", { name: f.name }, ...f.values.map((v) => make("option", { value: v, selected: v === f.value }, Flow.words(v))));
    } else if (f.type === "boolean") {
      e = make("input", { type: "checkbox", name: f.name, checked: f.value === true });
      inputs[f.name] = () => e.checked;
      return make("label", { class: "check" }, e, label);
    } else if (f.type === "date") {
      e.type = "date";
      const day = f.value && new Date(f.value);
      e.value = day ? new Date(day - day.getTimezoneOffset() * 60e3).toISOString().slice(0, 10) : "";
      inputs[f.name] = () => (e.value ? new Date(`${e.value}T00:00`).toISOString() : null);
    } else if (/^(integer|long|double|float)$/.test(f.type)) {
      e.type = "number";
      e.step = /integer|long/.test(f.type) ? 1 : "any";
      inputs[f.name] = () => (e.value === "" ? null : Number(e.value));
    } else if (f.type !== "string") {
      delete inputs[f.name]; // files and the like are for programs
      return null;
    }
    return make("label", {}, label, e);
  };

  const over = async (text) => {
    byId("done").textContent = text;
    byId("done").hidden = false;
    history.replaceState(null, "", location.pathname);
    byId("one").hidden = true;
    await list.show();
    byId("main").focus();
  };

  const end = async (action) => {
    if (action.validate && !byId("form").reportValidity()) return;
    const variables = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value()]));
    const comment = byId("form").elements.comment.value;
    await call("PUT", `${at}/${encodeURIComponent(action.name)}`, { "entity-type": "task", id: task.id, comment, variables: comment ? { ...variables, comment } : variables });
    await over(`${name(task)}: ${Flow.say(action.label, action.name)}.`);
  };

  const open = async () => {
    const parts = location.hash.slice(1).split("/").filter(Boolean);
    byId("one").hidden = !parts.length;
    if (!parts.length) return;
    const id = parts.pop();
    const asked = location.hash;
    const from = `/api/v1/${parts.length ? `repo/${parts[0]}/` : ""}task/${id}`;
    const [{ answer }, { answer: form }] = await Promise.all([call("GET", from, undefined, { "fetch-task": "targetDocumentIds" }), call("GET", `${from}/form`)]);
    if (location.hash !== asked) return; // another one was chosen meanwhile
    at = from; // only now: what is pressed until then is meant for the task that is shown
    task = answer;
    inputs = {};
    const may = (what) => form.may.includes(what);
    byId("one-title").textContent = name(task);
    byId("directive").textContent = Flow.say(task.directive);
    const about = [task.workflowInstanceId ? `${Flow.say(task.workflowTitle, task.workflowModelName)}, started by ${task.workflowInitiator}` : null, ...documents(task), `for ${names(task.actors)}`,
      task.delegatedActors.length ? `delegated to ${names(task.delegatedActors)}` : null, task.state === "opened" ? null : task.state, due(task)].filter(Boolean);
    byId("about").replaceChildren(...about.flatMap((part, i) => (i ? [" · ", part] : [part])));
    byId("comments").replaceChildren(...task.comments.map((c) => make("li", {}, make("div", {}, make("strong", {}, c.author), make("p", {}, c.text)), ago(c.date))));
    byId("fields").replaceChildren(...form.fields.filter((f) => f.name !== "comment" || !may("end")).map(field).filter(Boolean));
    byId("form").elements.comment.closest("label").hidden = !may("end");
    byId("form").elements.comment.value = "";
    // Of several outcomes, none is advised.
    byId("actions").replaceChildren(...(may("end") ? task.taskInfo.taskActions : []).map((a, _, all) => make("button", {
      type: "button", value: a.name, class: all.length === 1 ? "primary" : null, onclick: tried(() => end(a)),
    }, Flow.say(a.label, a.name))));
    byId("hand").hidden = !may("reassign") && !may("delegate");
    byId("reassign").hidden = !may("reassign");
    byId("delegate").hidden = !may("delegate");
    others = Flow.people("Users and groups");
    byId("others").replaceChildren(others.element);
    byId("one-title").focus();
  };

  const hand = (how) => tried(async () => {
    const query = new URLSearchParams({ comment: byId("hand").elements.comment.value });
    const chosen = others.value();
    if (!chosen.length) throw new Error("Enter at least one user or group.");
    for (const one of chosen) query.append(how === "delegate" ? "delegatedActors" : "actors", one);
    await call("PUT", `${at}/${how}?${query}`);
    byId("hand").reset();
    await over(`${name(task)}: ${how === "delegate" ? "delegated to" : "reassigned to"} ${chosen.map(Flow.plain).join(", ")}.`);
  });

  // Enter in a field ends no task: there are several ways to, and none is the usual one.
  for (const id of ["form", "hand"]) byId(id).addEventListener("submit", (e) => e.preventDefault());
  byId("delegate").addEventListener("click", hand("delegate"));
  byId("reassign").addEventListener("click", hand("reassign"));
  window.addEventListener("hashchange", tried(async () => (byId("done").hidden = true, open()), false));
  tried(async () => {
    await Flow.read();
    await Promise.all([list.show(), open()]);
  })();
})();
