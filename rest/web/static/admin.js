// The console's page of administration. A section is a list with a form: what it asks for, what a row says, the fields, and the
// calls that create, change and delete. Everything else is the same for all.
"use strict";
(() => {
  const say = (text) => {
    byId("done").textContent = text;
    byId("done").hidden = !text;
  };
  const value = (name) => encodeURIComponent(name);
  const people = (what) => async (q, after) => {
    const { answer } = await call("GET", `/api/v1/${what}/search?q=${value(q || "*")}&pageSize=100&after=${value(after || "")}`);
    return { entries: answer.entries, next: answer.nextCursor };
  };

  const users = {
    name: "user", key: (u) => u.id, list: people("user"), search: true,
    row: (u) => [[u.properties.firstName, u.properties.lastName].filter(Boolean).join(" "), u.properties.email, (u.properties.groups || []).join(", ")],
    fields: (u) => [
      ...(u ? [] : [{ name: "username", label: "User name", kind: "text", required: true }]),
      { name: "firstName", kind: "text" }, { name: "lastName", kind: "text" }, { name: "email", kind: "text" }, { name: "company", kind: "text" },
      { name: "password", label: u ? "New password" : "Password", kind: "text", secret: true, least: Number(site.passwordLength), doc: u ? "Empty leaves it as it is." : "" }, { name: "groups", kind: "text", list: true, pick: "group" },
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
    const schema = (await call("GET", `/api/v1/config/schemas/${value(d.schema)}`, undefined, { "fetch-schema": "fields" })).answer;
    const own = Form.ofSchema("", schema).filter((f) => f.name !== d.idField);
    const at = `/api/v1/directory/${value(d.name)}`;
    const body = (id, v) => ({ "entity-type": "directoryEntry", directoryName: d.name, id, properties: { ...v, [d.idField]: id } });
    return {
      name: "entry", key: (e) => e.id,
      list: async (q, page = 0) => {
        const { answer } = await call("GET", `${at}?pageSize=100&currentPageIndex=${page}`);
        return { entries: answer.entries, next: answer.isNextPageAvailable ? Number(page) + 1 : undefined };
      },
      row: (e) => [e.properties.label_en || e.properties.label, e.properties.parent, e.properties.obsolete ? "obsolete" : ""],
      fields: (e) => [...(e ? [] : [{ name: d.idField, label: "Identifier", kind: "text", required: true }]), ...own],
      values: (e) => e.properties,
      create: (v) => call("POST", at, body(v[d.idField], v)),
      change: (e, v) => call("PUT", `${at}/${value(e.id)}`, body(e.id, v)),
      remove: (e) => call("DELETE", `${at}/${value(e.id)}`),
    };
  };

  // Credentials are sent to other services. Some of their fields are for some kinds alone.
  const kinds = [["basic", "User and password"], ["bearer", "Token (bearer)"], ["header", "Header"], ["oauth2", "OAuth 2 client credentials"]];
  const only = { user: ["basic", "oauth2"], header: ["header"], tokenUrl: ["oauth2"], scopes: ["oauth2"] };
  const ofKind = (v) => Object.fromEntries(Object.entries(v).filter(([name]) => !only[name] || only[name].includes(v.kind)));
  const credentials = {
    name: "credential", key: (x) => x.name, list: async () => ({ entries: await run("Credential.List", {}) }),
    row: (x) => [kinds.find(([kind]) => kind === x.kind)?.[1], x.url, [...(x.chains || []), ...(x.users || [])].length ? `for ${[...(x.chains || []), ...(x.users || [])].join(", ")}` : "nobody may use it yet", x.description],
    fields: (x) => [
      ...(x ? [] : [{ name: "name", kind: "text", required: true, most: 100, doc: "By which steps and scripts name it, such as bookkeeping." }]),
      { name: "kind", label: "Sign-in", kind: "choice", required: true, values: kinds, doc: "How the service is signed in to." },
      { name: "url", label: "Address", kind: "text", required: true, doc: "The credential is sent only to addresses that begin with it, such as https://api.example.com/v1/." },
      { name: "user", label: "User or client ID", kind: "text", required: true },
      { name: "header", label: "Name of the header", kind: "text", required: true, doc: "Such as X-Api-Key." },
      { name: "tokenUrl", label: "Token address", kind: "text", required: true, doc: "Where the client gets its tokens." },
      { name: "scopes", label: "Scopes", kind: "text", list: true },
      { name: "secret", label: "Secret", kind: "text", secret: true, required: !x, doc: `The password, the token, the value of the header or the client secret.${x ? " Empty leaves it as it is; a new address, user or header needs it again." : ""}` },
      { name: "chains", label: "Chains that may use it", kind: "text", list: true, pick: "chain", doc: "For everybody who runs them." },
      { name: "users", label: "Users and groups that may use it", kind: "text", list: true, pick: "who", doc: "In calls and scripts of their own." },
      { name: "description", kind: "text", folded: true },
    ],
    values: (x) => x,
    ready: (form) => {
      const kind = form.field("kind").element.querySelector("select");
      const show = () => Object.entries(only).forEach(([name, of]) => form.field(name).show(of.includes(kind.value)));
      kind.addEventListener("change", show);
      show();
    },
    create: async (v) => {
      if ((await run("Credential.List", {})).some((x) => x.name === v.name)) throw new Refused(409, { errors: [{ pointer: "#/name", detail: `There is a credential ${v.name} already.` }] });
      return run("Credential.Save", ofKind(v));
    },
    change: (x, v, all) => run("Credential.Save", { ...ofKind(all), name: x.name }),
    remove: (x) => run("Credential.Delete", { name: x.name }),
  };

  // edit asks for the values of an entry, or of a new one.
  const edit = async (s, x, refresh) => {
    const now = x && s.read ? await s.read(x) : x;
    const form = Form.of(await s.fields(now), now ? s.values(now) : {}, { folded: "More" });
    s.ready?.(form);
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
    await refresh(x && `Change ${s.key(x)}`);
  };

  const section = async (s) => {
    const search = s.search ? make("input", { type: "search", autocomplete: "off", oninput: tried(() => rows.refresh(), false) }) : null;
    const rows = Rows.list({
      label: `All of kind ${s.name}`, height: 56,
      load: (after) => s.list(search?.value.trim(), after),
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
    const fresh = make("button", { type: "button", class: "primary", onclick: tried(() => edit(s, null, refresh)) }, `New ${s.name}`);
    // What was pressed was drawn again, or is gone.
    const refresh = async (pressed) => {
      await rows.refresh();
      if (box.isConnected && document.activeElement === document.body) ([...rows.element.querySelectorAll("button")].find((b) => b.ariaLabel === pressed) || fresh).focus();
    };
    const box = make("div", { class: "panel" }, make("div", { class: "row list-head" }, search ? make("label", {}, "Search ", search) : null, fresh), rows.element);
    return [box, refresh];
  };

  // entries of one vocabulary after the other are in a view.
  const chosen = async (view) => {
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
    view.replaceChildren(make("div", { class: "row list-head" }, make("label", {}, "Vocabulary ", select)), box);
    await open();
  };

  // vocabularies lets administrators edit declarations as files, below the entries of those in effect.
  const vocabularies = async (pane, say) => {
    const view = make("div"), texts = make("div");
    pane.replaceChildren(view, make("h2", {}, "Declarations"), make("p", { class: "soft" }, "Vocabularies are declared in files, which are kept in versions and take effect on all servers at once. ", make("a", { href: `${site.prefix}/docs/administer#vocabularies` }, "How they are written")), texts);
    await Promise.all([chosen(view), Texts.pane({
      family: "Vocabulary", noun: "vocabulary", nouns: "vocabularies", named: "colors", changed: () => chosen(view),
      first: "directories:\n  color:\n    schema: vocabulary\n    entries:\n      red: {en: Red, fr: Rouge}\n      blue: {en: Blue, fr: Bleu}\n",
    })(texts, say)]);
  };

  const { table, row } = AdminPanes;

  // declared shows the types of documents, and the fields of a schema.
  const declared = async (pane) => {
    const [{ doctypes }, schemas] = await Promise.all([call("GET", "/api/v1/config/types").then((a) => a.answer), call("GET", "/api/v1/config/schemas").then((a) => a.answer)]);
    const fields = make("div");
    const select = make("select", {}, ...schemas.map((x) => x.name).sort().map((n) => make("option", {}, n)));
    const rules = (def) => (def.constraints || []).map((c) => [c.name, ...Object.values(c.parameters || {})].join(" ")).join("; ");
    const lines = ({ fields: all, fieldOrder: names }, prefix = "") => names.map((name) => [name, all[name]]).flatMap(([name, def]) => [row(prefix + name, def.type, rules(def)), ...(def.fields ? lines(def, `${prefix}${name}/`) : [])]);
    const show = async () => {
      const { answer } = await call("GET", `/api/v1/config/schemas/${value(select.value)}`, undefined, { "fetch-schema": "fields" });
      if (select.value !== answer.name) return; // another one was chosen meanwhile
      fields.replaceChildren(table(`Fields of the schema ${answer.name}, prefix ${answer["@prefix"] || answer.prefix || answer.name}`, ["Field", "Type", "Rules"], lines(answer)));
    };
    select.addEventListener("change", tried(show, false));
    pane.replaceChildren(table("Types of documents", ["Type", "Extends", "Schemas", "Facets"], Object.entries(doctypes).sort().map(([name, t]) => row(name, t.parent || "", t.schemas.join(", "), t.facets.join(", ")))),
      make("div", { class: "row list-head" }, make("label", {}, "Schema ", select)), fields);
    await show();
  };

  // types lets administrators edit declarations as files, above what is in effect.
  const types = async (pane, say) => {
    const view = make("div"), texts = make("div");
    pane.replaceChildren(make("p", { class: "soft" }, "Types and schemas are declared in files, which are kept in versions and take effect on all servers at once. ", make("a", { href: `${site.prefix}/docs/administer#content-types` }, "How they are written")), texts, view);
    await Promise.all([declared(view), Texts.pane({
      family: "Type", noun: "type", named: "contract", changed: () => declared(view),
      first: "schemas:\n  contract:\n    prefix: ct\n    fields:\n      party: {type: string, index: true}\n      amount: {type: double, min: 0}\ntypes:\n  Contract:\n    parent: File\n    label: Contract\n    schemas: [contract]\n    containers: [Folder, Workspace]\n",
    })(texts, say)]);
  };

  const at = (t) => (t ? new Date(t).toLocaleString() : "");
  const schedules = Texts.pane({
    family: "Schedule", noun: "schedule", states: "Schedule.Status",
    first: "name: Nightly\nas: system\ncron: \"0 2 * * *\"\ntimezone: UTC\nrun: Log\nparams: {level: info, message: \"@{Schedule.name}\"}\n",
    facts: (s) => [s.run ? `${s.run} as ${s.user}` : "", s.next ? ` · next ${at(s.next)}` : "", s.last ? ` · last ${at(s.last)}` : "", s.pending ? " · a run is to begin" : "", " · "],
    about: async (source) => {
      const next = await run("Schedule.Next", { source });
      return [make("p", { class: "soft" }, next.length ? `Next runs: ${next.map(at).join(" · ")}` : "It will not run again.")];
    },
    acts: (s, name, refresh, told) => {
      const act = (label, op, done) => make("button", { type: "button", class: "quiet", "aria-label": `${label} ${name}`, onclick: tried(async () => {
        await run(`Schedule.${op}`, { name });
        told(done);
        await refresh();
      }) }, label);
      return [act("Run now", "RunNow", `${name} runs as soon as possible.`), s.state === "stopped" ? act("Resume", "Resume", "Resumed.") : act("Pause", "Stop", "Paused."),
        make("a", { class: "button quiet", href: `${site.prefix}/ui/runs?operation=${value(`schedule ${name}`)}`, "aria-label": `Runs of ${name}` }, "Runs")];
    },
  });

  const hooks = Texts.pane({
    family: "Hook", noun: "hook", states: "Hook.Status",
    first: "name: Orders\nas: system\nrun: Log\nparams: {level: info, message: \"@{Hook.body.number}\"}\n",
    facts: (s) => [s.run ? `${s.run} as ${s.user} · ${s.path}` : "", s.last ? ` · last ${at(s.last)}` : "", " · "],
    acts: (s, name) => [make("button", { type: "button", class: "quiet", "aria-label": `New secret of ${name}`, onclick: tried(async () => {
      if (!await Dialogs.confirm("New secret", `Make a new secret of ${name}? The present one stays valid for a day.`, "Make a secret", false)) return;
      const made = await run("Hook.RenewSecret", { name });
      await Dialogs.open({ title: `Secret of ${name}`, action: "", cancel: "Close", body: [make("p", {}, "It is shown only once."), make("p", { class: "secret" }, make("code", {}, made.secret), make("button", { type: "button", onclick: copy(made.secret) }, "Copy")), make("p", { class: "soft" }, `Address: ${location.origin}${site.prefix}${made.path}`)] });
    }) }, "New secret")],
  });

  const listeners = Texts.pane({
    family: "Listener", noun: "listener",
    first: "name: Notify\nevents: [documentCreated]\ntypes: [File]\nrun: Log\nparams: {level: info, message: \"@{Document.title}\"}\n",
  });

  // workflows lets administrators edit declarations as files, below those in effect and what waits in them.
  const workflows = async (pane, say) => {
    const view = make("div"), texts = make("div");
    pane.replaceChildren(view, make("h2", {}, "Declarations"), make("p", { class: "soft" }, "Workflows are declared in files, which are kept in versions and take effect on all servers within a second. ", make("a", { href: `${site.prefix}/docs/administer#workflows` }, "How they are written")), texts);
    const shown = () => AdminPanes.workflows(view, say);
    await Promise.all([shown(), Texts.pane({
      family: "WorkflowDefinition", noun: "workflow", named: "ask", changed: shown,
      first: "workflows:\n  Ask:\n    title: Ask for approval\n    nodes:\n      ask:\n        start: true\n        task: {assignees: [\"group:administrators\"], buttons: {approve: {}, reject: {}}}\n        transitions: {answered: {to: end}}\n      end: {end: true}\n",
    })(texts, say)]);
  };

  // others are the kinds of text of which servers have few, one after the other in a view.
  const others = [
    { family: "Template", noun: "template", named: "letter.ftl", extended: true, first: "Dear ${Document.title},\n" },
    { family: "MailTemplate", noun: "mail", nouns: "templates of mail", named: "news.ftl", extended: true, first: "Subject: News\n\n${title}\n" },
    { family: "PageProvider", noun: "provider", nouns: "page providers", named: "notes", first: "providers:\n  notes: {from: Note, where: \"ecm:isVersion = 0\", sort: [dc:title]}\n" },
    { family: "ActionDefinition", noun: "action", named: "sign", first: "actions:\n  sign: {categories: [SIGN], operation: Document.Lock, types: [File]}\n" },
  ];
  const texts = async (pane, say) => {
    const title = (k) => Form.words(k.nouns || `${k.noun}s`);
    const select = make("select", {}, ...others.map((k) => make("option", { value: k.family }, title(k))));
    const box = make("div");
    const places = new Map(); // each kind keeps its own, with what is not saved
    const open = () => {
      const k = others.find((one) => one.family === select.value);
      if (!places.has(k)) places.set(k, box.appendChild(make("div")));
      const here = places.get(k);
      for (const place of places.values()) {
        place.hidden = place !== here;
        if (place.hidden && !Texts.unsaved(place)) place.replaceChildren();
      }
      if (!Texts.unsaved(here)) return Texts.pane(k)(here, say);
    };
    select.addEventListener("change", tried(open, false));
    pane.replaceChildren(make("div", { class: "row list-head" }, make("label", {}, "Kind ", select)), box);
    await open();
  };

  const listed = (s) => async (pane) => {
    const [element, refresh] = await section(s);
    pane.replaceChildren(element);
    await refresh();
  };
  const panes = [
    ["users", "Users", listed(users)], ["groups", "Groups", listed(groups)], ["vocabularies", "Vocabularies", vocabularies], ["types", "Types", types],
    ["workflows", "Workflows", workflows], ["listeners", "Listeners", listeners], ["schedules", "Schedules", schedules], ["hooks", "Hooks", hooks], ["texts", "Templates and more", texts],
    ["credentials", "Credentials", listed(credentials)], ["keys", "API keys", AdminPanes.keys], ["audit", "Audit log", AdminPanes.audit],
    ["server", "Server", AdminPanes.server], ["figures", "Figures", AdminPanes.figures], ["indexes", "Indexes", AdminPanes.indexes], ["settings", "Settings", AdminPanes.settings],
  ].filter(([id]) => "admin" in site || ["users", "groups"].includes(id)); // what members of powerusers look after
  byId("panes").append(...panes.map(([id]) => make("div", { id, role: "tabpanel", "aria-labelledby": `tab-${id}`, hidden: true })));
  const choose = Tabs.of(byId("tabs"), panes, async (id) => {
    say("");
    history.replaceState(null, "", `#${id}`);
    for (const [one] of panes) byId(one).hidden = one !== id;
    if (Texts.unsaved(byId(id))) return; // a text that is not saved is there again
    await panes.find(([one]) => one === id)[2](byId(id), say);
  });
  tried(() => choose(panes.some(([id]) => id === location.hash.slice(1)) ? location.hash.slice(1) : "users"))();
})();
