// The console's page of searches. The fields and filters write a query, which can be edited, explained and saved; the list,
// the actions on a selection and the export all use that query.
"use strict";
(() => {
  const form = byId("find");
  const field = (name) => form.elements[name];
  const sorts = () => byId("sort").value;
  // A facet is [aggregate of the provider, title, condition for its values].
  const facets = [
    ["dc_creator_agg", "Creator", (v) => `dc:creator IN (${v.map(Docs.quoted).join(", ")})`],
    ["dc_nature_agg", "Nature", (v) => `dc:nature IN (${v.map(Docs.quoted).join(", ")})`, "nature"],
    ["dc_subjects_agg", "Subjects", (v) => `dc:subjects/* IN (${v.map(Docs.quoted).join(", ")})`, "l10nsubjects"],
    ["dc_coverage_agg", "Coverage", (v) => `dc:coverage IN (${v.map(Docs.quoted).join(", ")})`, "l10ncoverage"],
  ];
  const chosen = new Map(); // aggregate: Set of values
  let own = false; // the query was written by hand
  let counts = 0; // the newest count; answers of older ones are dropped
  let texts = new Map();

  const written = () => {
    const parts = ["ecm:primaryType NOT IN ('Domain', 'SectionRoot', 'TemplateRoot', 'WorkspaceRoot', 'Favorites')", "ecm:mixinType != 'HiddenInNavigation'", "ecm:isVersion = 0", "ecm:isTrashed = 0"];
    if (field("words").value.trim()) parts.push(`ecm:fulltext = ${Docs.quoted(field("words").value.trim())}`);
    if (field("type").value.trim()) parts.push(`ecm:primaryType = ${Docs.quoted(field("type").value.trim())}`);
    if (field("path").value.trim()) parts.push(`ecm:path STARTSWITH ${Docs.quoted(field("path").value.trim())}`);
    for (const [name, , condition] of facets) if (chosen.get(name)?.size) parts.push(condition([...chosen.get(name)]));
    return `SELECT * FROM Document WHERE ${parts.join("\n  AND ")}\nORDER BY ${sorts()}`;
  };
  const query = () => field("query").value.trim();

  const explained = /^\s*EXPLAIN\s+/i; // a query that is to be explained, not answered

  const list = DocList.of({
    label: "Results", where: true, empty: "Nothing found.", acts: (docs) => DocActs.ofMany(docs, async (label) => {
      await list.refresh();
      say(`${label}: done.`);
    }),
    load: (after) => Docs.query("default", query())(after),
  });
  byId("results").append(list.element);

  const say = (text) => {
    byId("done").textContent = text;
    byId("done").hidden = !text;
  };

  const box = (name, bucket) => make("label", { class: "check" }, make("input", { type: "checkbox", "data-bucket": `${name} ${bucket.key}`, checked: chosen.get(name)?.has(bucket.key), onchange: tried(async (e) => {
    const set = chosen.get(name) || new Set();
    if (e.target.checked) set.add(bucket.key);
    else set.delete(bucket.key);
    chosen.set(name, set);
    await search();
  }, false) }), make("span", {}, texts.get(bucket.key)?.trim() || bucket.key), make("span", { class: "soft small" }, bucket.docCount.toLocaleString()));

  const count = async () => {
    const mine = ++counts;
    byId("facets").hidden = own;
    if (own) return;
    const q = new URLSearchParams({ pageSize: 1 });
    if (field("words").value.trim()) q.set("ecm_fulltext", field("words").value.trim());
    if (field("type").value.trim()) q.set("ecm_primaryType", JSON.stringify([field("type").value.trim()]));
    if (field("path").value.trim()) q.set("ecm_path", JSON.stringify([field("path").value.trim()]));
    for (const [name] of facets) if (chosen.get(name)?.size) q.set(name, JSON.stringify([...chosen.get(name)]));
    const { aggregations } = (await call("GET", `/api/v1/search/pp/console_search/execute?${q}`)).answer;
    const groups = facets.filter(([name]) => aggregations?.[name]?.buckets.length);
    const vocabularies = groups.map(([, , , directory]) => directory).filter(Boolean);
    const names = new Map((await Promise.all(vocabularies.map(Pick.entries))).flat());
    if (mine !== counts) return;
    texts = names;
    const held = byId("facets").contains(document.activeElement) ? document.activeElement.dataset.bucket : null;
    byId("facets").replaceChildren(...groups.map(([name, title]) => make("fieldset", {}, make("legend", {}, title), ...aggregations[name].buckets.map((x) => box(name, x)))));
    byId("facets").hidden = !groups.length;
    if (held) [...byId("facets").querySelectorAll("input")].find((i) => i.dataset.bucket === held)?.focus(); // what was ticked was drawn again
  };

  // keep writes into the address what is searched for, so that it is found again after a document was looked at.
  const plain = { q: "words", type: "type", path: "path" };
  const keep = () => {
    const at = new URLSearchParams();
    if (own) at.set("query", query());
    else {
      for (const [name, of] of Object.entries(plain)) if (field(of).value.trim()) at.set(name, field(of).value.trim());
      for (const [name, values] of chosen) for (const v of values) at.append(name, v);
      if (byId("sort").selectedIndex) at.set("sort", sorts());
    }
    history.replaceState(null, "", `${location.pathname}${at.size ? `?${at}` : ""}`);
  };
  const recall = () => {
    const at = new URLSearchParams(location.search);
    for (const [name, of] of Object.entries(plain)) field(of).value = at.get(name) || "";
    for (const [name] of facets) if (at.has(name)) chosen.set(name, new Set(at.getAll(name)));
    if ([...byId("sort").options].some((o) => o.value === at.get("sort"))) byId("sort").value = at.get("sort");
    if (!at.has("query")) return search();
    field("query").value = at.get("query");
    byId("editor").open = true;
    return searchOwn();
  };

  const search = async () => {
    own = false;
    field("query").value = written();
    keep();
    say("");
    await Promise.all([list.refresh(), count()]);
  };
  const explain = async () => {
    byId("plan").textContent = await run("Repository.Explain", { query: query().replace(explained, "") });
    byId("plan").hidden = false;
    byId("plan").focus();
  };
  const searchOwn = async () => {
    own = true;
    keep();
    say("");
    if (explained.test(query())) return explain();
    await Promise.all([list.refresh(), count()]);
  };

  const saved = async () => {
    const { entries } = (await call("GET", "/api/v1/search/saved?pageSize=100")).answer;
    byId("saved").replaceChildren(...(entries.length ? entries.filter((s) => s.query).map((s) => make("li", {},
      make("div", {}, make("button", { type: "button", class: "quiet", onclick: tried(async () => {
        field("query").value = s.query;
        byId("editor").open = true;
        await searchOwn();
      }) }, s.title)),
      make("button", { type: "button", class: "quiet danger", "aria-label": `Delete the search ${s.title}`, onclick: tried(async () => {
        if (!await Dialogs.confirm("Delete a saved search", `Delete ${s.title}? The documents stay.`, "Delete")) return;
        await call("DELETE", `/api/v1/search/saved/${s.id}`);
        await saved();
      }) }, "Delete"))) : [make("li", { class: "soft" }, "None yet.")]));
  };

  byId("save").addEventListener("click", tried(async () => {
    const ask = Form.of([{ name: "title", label: "Name", kind: "text", required: true }]);
    if (await Dialogs.open({ title: "Save this search", action: "Save", body: [ask.element], act: async () => call("POST", "/api/v1/search/saved", { "entity-type": "savedSearch", title: ask.value().title, query: query(), queryLanguage: "NXQL" }) })) await saved();
  }));

  // All results are exported, also those that are not shown.
  byId("csv").addEventListener("click", tried(() => DocTables.ofQuery(query())));

  byId("explain").addEventListener("click", tried(explain));
  byId("run").addEventListener("click", tried(searchOwn));
  form.addEventListener("submit", tried(search));
  field("type").after(Pick.list(field("type"), { kind: "type" }));
  field("path").after(Pick.list(field("path"), { kind: "document" }));
  byId("sort").addEventListener("change", tried(async () => {
    if (!own) return search();
    field("query").value = `${query().replace(/\s*ORDER BY[\s\S]*$/i, "")}\nORDER BY ${sorts()}`;
    return searchOwn();
  }, false));
  byId("all").addEventListener("click", () => list.all());
  tried(async () => {
    byId("explain").hidden = !(await call("GET", "/api/v1/me")).answer.isAdministrator;
    await Promise.all([recall(), saved()]);
  })();
})();
