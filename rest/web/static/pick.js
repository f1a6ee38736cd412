// What fields suggest: variables within expressions, and names of what the server knows.
"use strict";
const Pick = (() => {
  let serial = 0;
  const known = new Map(); // answers that stay the same while the page is open

  const once = (key, ask) => {
    if (!known.has(key)) known.set(key, ask().catch(() => []));
    return known.get(key);
  };
  const names = (path, of) => once(path, async () => of((await call("GET", path)).answer));

  const xpaths = (schemas) => schemas.flatMap((s) => Object.keys(s.fields || {}).map((f) => `${s["@prefix"] || s.prefix || s.name}:${f}`));

  // titled finds documents by the beginnings of words: people seldom know paths.
  const titled = async (text) => {
    const words = text.replace(/[^\p{L}\p{N} ]/gu, " ").trim();
    if (words.length < 2) return ["/"];
    const query = `SELECT * FROM Document WHERE ecm:fulltext = '${words}*' AND ecm:isVersion = 0 AND ecm:isTrashed = 0 AND ecm:mixinType != 'HiddenInNavigation'`;
    const { entries } = (await call("GET", `/api/v1/search/lang/NXQL/execute?pageSize=20&query=${encodeURIComponent(query)}`)).answer;
    return entries.map((d) => [d.path, d.title]);
  };

  // children completes the path of a document by what lies in the folder before the last slash.
  const children = async (text) => {
    if (!text.startsWith("/")) return titled(text);
    const folder = text.slice(0, text.lastIndexOf("/"));
    const at = folder.split("/").map(encodeURIComponent).join("/");
    return once(`children ${folder}`, async () => (await call("GET", `/api/v1/path${at}/@children?pageSize=50`)).answer.entries.map((d) => d.path));
  };

  // sources are where the names of a kind come from.
  const sources = {
    document: children,
    type: () => names("/api/v1/config/types", (a) => Object.keys(a.doctypes)),
    facet: () => names("/api/v1/config/facets", (a) => a.map((f) => f.name)),
    schema: () => names("/api/v1/config/schemas", (a) => a.map((s) => s.name)),
    xpath: () => names("/api/v1/config/schemas", xpaths),
    directory: () => names("/api/v1/directory", (a) => a.entries.map((d) => d.name)),
    operation: async (text) => (await run("Chain.FindStep", { query: text, limit: 12 })).filter((f) => f.op).map((f) => f.op),
    who: async (text) => (await run("UserGroup.Suggestion", { searchTerm: text, userSuggestionMaxSearchResults: 20 })).filter((w) => w.id).map((w) => [w.type === "GROUP_TYPE" ? w.groupname || w.id : w.username || w.id, w.displayLabel]),
    group: async (text) => (await call("GET", `/api/v1/group/search?pageSize=20&q=${encodeURIComponent(text || "*")}`)).answer.entries.map((g) => [g.groupname, g.grouplabel]),
    tag: async (text) => (await run("Tag.Suggestion", { searchTerm: text })).map((t) => t.displayLabel),
    permission: () => "Read ReadWrite Write Everything AddChildren Browse Remove Version WriteProperties WriteSecurity ReadSecurity ManageWorkflows Comment".split(" "),
    chain: () => once("chains", async () => (await run("Chain.List", {})).map((c) => c.name)),
    credential: () => once("credentials", async () => (await run("Credential.List", {})).map((c) => [c.name, c.url])),
    user: async (text) => (text.length < 2 ? [] : (await call("GET", `/api/v1/user/search?pageSize=8&q=${encodeURIComponent(text)}`)).answer.entries.map((u) => u.id)),
  };

  // within completes the name that is being written in an expression; whole tells that all of the text is one.
  const within = (text, variables, whole) => {
    const from = whole ? 0 : text.startsWith("expr:") ? 5 : text.lastIndexOf("@{") + 2;
    const open = whole || text.startsWith("expr:") || (from > 1 && !text.slice(from).includes("}"));
    if (!open) return null;
    const word = /[\w.]*$/.exec(text.slice(from))[0];
    const end = whole || text.startsWith("expr:") ? "" : "}";
    return variables.filter((v) => v.startsWith(word)).map((v) => text.slice(0, text.length - word.length) + v + end);
  };

  // kindOf tells what a parameter names. Users and directories have no check, so they are told by their usual names.
  const kindOf = (name, names, type) => names || (/^(document|documentref)$/.test(type) ? "document" : /^(user|username|actor|assignee|initiator|manager)$/i.test(name) ? "user" : name === "credential" ? name : /^directory(Name)?$/.test(name) ? "directory" : "");

  // list gives a field a list of suggestions, which is asked for while the field has the focus.
  const list = (input, { kind, values = [], variables = [], whole = false }) => {
    const box = make("datalist", { id: `suggested-${++serial}` });
    let last = null;
    let timer;
    const fill = async () => {
      const text = input.value;
      if (text === last) return;
      last = text;
      const inner = within(text, variables, whole);
      const source = Object.hasOwn(sources, kind) ? sources[kind] : null;
      const found = inner || [...values, ...(source ? await source(text).catch(() => []) : [])];
      if (text !== input.value) return;
      const texts = new Map(found.map((v) => (Array.isArray(v) ? v : [v, null])));
      box.replaceChildren(...[...texts].slice(0, 200).map(([v, label]) => make("option", { value: v, label: label === v ? null : label })));
    };
    input.setAttribute("list", box.id);
    input.addEventListener("focus", fill);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(fill, 120);
    });
    return box;
  };

  // entries are those of a vocabulary as [value, label], in which a child follows its parent.
  const entries = (directory) => once(`entries ${directory}`, async () => {
    const language = navigator.language.slice(0, 2);
    const tree = await run("Directory.SuggestEntries", { directoryName: directory, localize: true, dbl10n: directory.startsWith("l10n"), lang: language, canSelectParent: true, filterParent: true, limit: -1 });
    const flat = (list, depth) => list.flatMap((e) => [[e.computedId || e.id, `${"\u2003".repeat(depth)}${e.displayLabel || e.label || e.id}`], ...flat(e.children || [], depth + 1)]);
    return flat(tree, 0);
  });

  return { list, kindOf, entries };
})();
