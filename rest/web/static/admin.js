// The console's page of administration. A section is a list with a form: what it asks for, what a row says, the fields, and the
// calls that create, change and delete. Everything else is the same for all.
"use strict";
(() => {
  const say = (text) => {
    byId("done").textContent = text;
    byId("done").hidden = !text;
  };
  const value = (name) => encodeURIComponent(name);
  const people = (what, key) => async (q, page) => {
    const { answer } = await call("GET", `/api/v1/${what}/search?q=${value(q || "*")}&pageSize=100&currentPageIndex=${page}`);
    return { entries: answer.entries, more: answer.isNextPageAvailable };
  };

  const users = {
    name: "user", key: (u) => u.id, list: people("user"), search: true,
    row: (u) => [[u.properties.firstName, u.properties.lastName].filter(Boolean).join(" "), u.properties.email, (u.properties.groups || []).join(", ")],
    fields: (u) => [
      ...(u ? [] : [{ name: "username", label: "User name", kind: "text", required: true }]),
      { name: "firstName", kind: "text" }, { name: "lastName", kind: "text" }, { name: "email", kind: "text" }, { name: "company", kind: "text" },
      { name: "password", label: u ? "New password" : "Password", kind: "text", secret: true, doc: u ? "Empty leaves it as it is." : "" }, { name: "groups", kind: "text", list: true, pick: "group" },
    ],
    values: (u) => u.properties,
    create: (v) => call("POST", "/api/v1/user", { "entity-type": "user", id: v.username, properties: v }),
    change: (u, v) => call("PUT", `/api/v1/user/${value(u.id)}`, { "entity-type": "user", id: u.id, properties: { username: u.id, ...v } }),
    remove: (u) => call("DELETE", `/api/v1/user/${value(u.id)}`),
  };

  const groups = {
    name: "group", key: (g) => g.groupname, list: people("group"), search: true,
    row: (g) => [g.grouplabel],
    read: async (g) => (await call("GET", `/api/v1/group/${value(g.groupname)}`, undefined, { "fetch-group": "memberUsers,memberGroups" })).answer,
    fields: (g) => [...(g ? [] : [{ name: "groupname", label: "Name", kind: "text", required: true }]), { name: "grouplabel", label: "Label", kind: "text" },
      { name: "memberUsers", label: "Users", kind: "text", list: true, pick: "user" }, { name: "memberGroups", label: "Groups", kind: "text", list: true, pick: "group" }],
    values: (g) => g,
    create: (v) => call("POST", "/api/v1/group", { "entity-type": "group", ...v }),
    change: (g, v) => call("PUT", `/api/v1/group/${value(g.groupname)}`, { "entity-type": "group", groupname: g.groupname, grouplabel: g.grouplabel, ...v }),
    remove: (g) => call("DELETE", `/api/v1/group/${value(g.groupname)}`),
  };

  // entries is the section of a vocabulary.
  const entries = async (d) => {
    const { fields } = (await call("GET", `/api/v1/config/schemas/${value(d.schema)}`)).answer;
    const own = Form.ofSchema("", fields).filter((f) => f.name !== d.idField);
    const at = `/api/v1/directory/${value(d.name)}`;
    const body = (id, v) => ({ "entity-type": "directoryEntry", directoryName: d.name, id, properties: { ...v, [d.idField]: id } });
    return {
      name: "entry", key: (e) => e.id,
      list: async (q, page) => {
        const { answer } = await call("GET", `${at}?pageSize=100&currentPageIndex=${page}`);
        return { entries: answer.entries, more: answer.isNextPageAvailable };
      },
      row: (e) => [e.properties.label_en || e.properties.label, e.properties.parent, e.properties.obsolete ? "obsolete" : ""],
      fields: (e) => [...(e ? [] : [{ name: d.idField, label: "Identifier", kind: "text", required: true }]), ...own],
      values: (e) => e.properties,
      create: (v) => call("POST", at, body(v[d.idField], v)),
      change: (e, v) => call("PUT", `${at}/${value(e.id)}`, body(e.id, v)),
      remove: (e) => call("DELETE", `${at}/${value(e.id)}`),
    };
  };

  // byOperation is a section whose form and calls are operations.
  const byOperation = (name, family) => ({
    name, key: (x) => x.name, list: async () => ({ entries: await run(`${family}.List`, {}) }),
    row: (x) => [x.kind, x.url, x.description],
    fields: async (x) => Form.ofParams((await call("GET", `/api/v1/automation/${family}.Save`)).answer.params).filter((f) => !x || f.name !== "name"),
    values: (x) => x,
    create: (v) => run(`${family}.Save`, v),
    change: (x, v, all) => run(`${family}.Save`, { ...all, name: x.name }),
    remove: (x) => run(`${family}.Delete`, { name: x.name }),
  });

  // edit asks for the values of an entry, or of a new one.
  const edit = async (s, x, refresh) => {
    const now = x && s.read ? await s.read(x) : x;
    const form = Form.of(await s.fields(now), now ? s.values(now) : {}, { folded: "More" });
    const done = await Dialogs.open({ title: x ? `Change ${s.key(x)}` : `New ${s.name}`, action: x ? "Save" : "Create", body: [form.element], act: async () => {
      try {
        if (x) await s.change(now, form.changed(), form.value());
        else await s.create(form.value());
      } catch (error) {
        form.fail(error);
        throw error;
      }
      return true;
    } });
    if (!done) return;
    say(x ? "Saved." : "Created.");
    await refresh();
  };

  const section = async (s) => {
    let page = 0;
    const search = s.search ? make("input", { type: "search", autocomplete: "off", oninput: tried(() => refresh(), false) }) : null;
    const rows = Rows.list({
      label: `All of kind ${s.name}`, height: 56,
      load: async () => {
        const found = await s.list(search?.value.trim(), page++);
        return { entries: found.entries, next: found.more ? String(page) : undefined };
      },
      fill: (x) => [
        make("span", { class: "what" }, make("strong", {}, s.key(x)), make("span", { class: "soft small" }, s.row(x).filter(Boolean).join(" · "))),
        make("button", { type: "button", class: "quiet", "aria-label": `Change ${s.key(x)}`, onclick: tried(() => edit(s, x, refresh)) }, "Change"),
        make("button", { type: "button", class: "quiet danger", "aria-label": `Delete ${s.key(x)}`, onclick: tried(async () => {
          if (!await Dialogs.confirm(`Delete the ${s.name}`, `Delete ${s.key(x)}?`, "Delete")) return;
          await s.remove(x);
          say("Deleted.");
          await refresh();
        }) }, "Delete"),
      ],
    });
    const refresh = () => {
      page = 0;
      return rows.refresh();
    };
    const box = make("div", { class: "panel" }, make("div", { class: "row list-head" }, search ? make("label", {}, "Search ", search) : null, make("button", { type: "button", class: "primary", onclick: tried(() => edit(s, null, refresh)) }, `New ${s.name}`)), rows.element);
    return [box, refresh];
  };

  const vocabularies = async (pane) => {
    const all = (await call("GET", "/api/v1/directory")).answer.entries;
    const select = make("select", {}, ...all.map((d) => make("option", {}, d.name)));
    const box = make("div");
    const open = async () => {
      const name = select.value;
      box.replaceChildren();
      const [element, refresh] = await section(await entries(all.find((d) => d.name === name)));
      if (select.value !== name) return; // another one was chosen meanwhile
      box.replaceChildren(element);
      await refresh();
    };
    select.addEventListener("change", tried(open, false));
    pane.replaceChildren(make("div", { class: "row list-head" }, make("label", {}, "Vocabulary ", select)), box);
    await open();
  };

  const table = (title, heads, rows) => make("div", { class: "panel scroll" }, make("table", {}, make("caption", {}, title), make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows)));

  const types = async (pane) => {
    const { doctypes } = (await call("GET", "/api/v1/config/types")).answer;
    pane.replaceChildren(table("Types of documents", ["Type", "Extends", "Schemas", "Facets"], Object.entries(doctypes).sort().map(([name, t]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, t.parent || ""), make("td", {}, t.schemas.join(", ")), make("td", {}, t.facets.join(", "))))));
  };

  const hooks = async (pane) => {
    const all = await run("Hook.Status", {});
    pane.replaceChildren(all.length ? table("Hooks", ["Name", "Runs", "As", "State", "Last run", ""], all.map((h) => make("tr", {}, make("th", { scope: "row" }, h.name), make("td", {}, h.run), make("td", {}, h.user), make("td", {}, make("span", { class: `tag ${h.failure ? "bad" : h.state === "enabled" ? "good" : ""}` }, h.failure ? "failed" : h.state), h.failure ? make("p", { class: "small" }, h.failure) : null), make("td", {}, h.last ? ago(h.last) : "never"),
      make("td", { class: "end" }, make("button", { type: "button", class: "quiet", "aria-label": `New secret of ${h.name}`, onclick: tried(async () => {
        if (!await Dialogs.confirm("New secret", `Make a new secret of ${h.name}? The present one stays valid for a day.`, "Make a secret", false)) return;
        const made = await run("Hook.RenewSecret", { name: h.name });
        await Dialogs.open({ title: `Secret of ${h.name}`, action: "", cancel: "Close", body: [make("p", {}, "It is shown only once."), make("p", { class: "secret" }, make("code", {}, made.secret)), make("p", { class: "soft" }, `Address: ${location.origin}${site.prefix}${made.path}`)] });
      }) }, "New secret"))))) : make("p", { class: "soft panel" }, "No hooks. They are deployed as files or by Hook.Save."));
  };

  const server = async (pane) => {
    const response = await fetch(`${site.prefix}/readyz`, { headers: { Accept: "application/json" } });
    const said = await response.text();
    let checks = {};
    try {
      checks = JSON.parse(said);
    } catch {
      checks = { state: said };
    }
    const flat = (v, path = "") => (v && typeof v === "object" ? Object.entries(v).flatMap(([k, x]) => flat(x, path ? `${path} ${k}` : k)) : [[path, String(v)]]);
    pane.replaceChildren(table(response.ok ? "The server is ready" : "The server is not ready", ["Check", "State"], flat(checks).map(([k, v]) => make("tr", {}, make("th", { scope: "row" }, k), make("td", {}, v)))));
  };

  const listed = (s) => async (pane) => {
    const [element, refresh] = await section(s);
    pane.replaceChildren(element);
    await refresh();
  };
  const panes = [
    ["users", "Users", listed(users)], ["groups", "Groups", listed(groups)], ["vocabularies", "Vocabularies", vocabularies], ["types", "Types", types],
    ["credentials", "Credentials", listed(byOperation("credential", "Credential"))], ["hooks", "Hooks", hooks], ["server", "Server", server],
  ];
  byId("panes").append(...panes.map(([id]) => make("div", { id, role: "tabpanel", "aria-labelledby": `tab-${id}`, hidden: true })));
  const choose = Tabs.of(byId("tabs"), panes, async (id) => {
    say("");
    history.replaceState(null, "", `#${id}`);
    for (const [one] of panes) byId(one).hidden = one !== id;
    await panes.find(([one]) => one === id)[2](byId(id));
  });
  tried(() => choose(panes.some(([id]) => id === location.hash.slice(1)) ? location.hash.slice(1) : "users"))();
})();
