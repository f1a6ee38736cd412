// Forms of the steps of chains, made from the JSON Schemas of their operations. A field tells what changes as an edit of the
// text; it keeps no values of its own.
"use strict";
const ChainForm = (() => {
  let serial = 0;
  const expression = (v) => typeof v === "string" && (v.startsWith("expr:") || v.includes("@{"));
  const words = "any void string boolean integer long float date document documents blob bloblist properties stringlist list map object".split(" ");

  // shape tells how a value of a schema is entered.
  const shape = (schema, type) => {
    if (schema.enum) return "choice";
    if (schema.format === "date-time") return "date";
    if (["boolean", "integer", "number"].includes(schema.type)) return schema.type;
    if (type === "stringlist" || type === "documents") return "lines";
    if (/^(properties|map)$/.test(type)) return "pairs";
    if (schema.type === "array" || schema.type === "object") return "json";
    return schema.type ? "text" : "data";
  };

  // structured is the object or list that a text writes as JSON, with expressions within it perhaps; undefined: it is another text.
  const structured = (text) => {
    try {
      const v = JSON.parse(text);
      return typeof v === "object" && v !== null ? v : undefined;
    } catch {
      return undefined;
    }
  };

  // read makes a value of what was entered; undefined: none. Data is any value; what is not an object or a list stays a text.
  const read = (kind, text) => {
    if (text === "") return undefined;
    if (["json", "any", "data"].includes(kind) && structured(text)) return structured(text);
    if (expression(text)) return text;
    if (kind === "boolean") return text === "true";
    if (kind === "integer" || kind === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    if (kind === "lines") return text.split("\n").map((l) => l.trim()).filter(Boolean);
    if (kind === "date") return new Date(text).toISOString();
    if (kind !== "json" && kind !== "any") return text;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };

  const local = (v) => {
    const at = new Date(v);
    return Number.isNaN(at.getTime()) ? "" : new Date(at - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
  };
  const shown = (v) => (v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v, null, 1) : String(v));

  // send tells of a change when typing pauses or the field is left.
  const send = (input, f, kind) => {
    let last = input.value;
    let timer;
    const tell = () => {
      clearTimeout(timer);
      if (input.value === last || (input.type === "datetime-local" && input.value !== "" && Number.isNaN(new Date(input.value).getTime()))) return;
      last = input.value;
      const v = read(kind, last);
      f.edit(v === undefined ? { action: "remove", path: f.path } : { action: "set", path: f.path, value: v });
    };
    input.addEventListener("change", tell);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(tell, 700);
    });
  };

  // picker returns the control for a plain value, or null if a text field will do.
  const picker = (f, common) => {
    if (f.kind === "boolean" || f.kind === "choice") {
      const values = f.kind === "boolean" ? ["true", "false"] : f.values.map(String);
      if (f.value !== undefined && f.value !== "" && !values.includes(String(f.value))) return null;
      const usual = f.usual === undefined || f.usual === null ? "" : `usually ${f.usual}`;
      return make("select", common, make("option", { value: "" }, usual), ...values.map((v) => make("option", { value: v, selected: v === String(f.value) }, v)));
    }
    if (f.kind === "date") {
      const value = f.value ? local(f.value) : "";
      return f.value && !value ? null : make("input", { ...common, type: "datetime-local", value });
    }
    return null;
  };

  const textual = (f, common) => {
    const many = f.kind === "json" || f.kind === "lines" || (typeof f.value === "object" && f.value !== null) || (typeof f.value === "string" && f.value.includes("\n"));
    const value = f.kind === "lines" && Array.isArray(f.value) ? f.value.join("\n") : shown(f.value);
    if (many) return [make("textarea", { ...common, rows: Math.min(10, Math.max(2, value.split("\n").length)), spellcheck: "false", placeholder: f.kind === "lines" ? "One a line" : null }, value)];
    const input = make("input", { ...common, value, autocomplete: "off", spellcheck: "false", inputmode: f.kind === "integer" ? "numeric" : null, placeholder: f.usual === undefined || f.usual === null ? null : shown(f.usual) });
    return [input, Pick.list(input, { ...f, kind: f.pick })];
  };

  // field is a labelled control with what is wrong with its value.
  const field = (f) => {
    const id = `field-${++serial}`;
    const wrong = f.problems || [];
    const invalid = wrong.some((p) => !p.warning);
    const about = [f.doc ? `${id}-doc` : "", wrong.length ? `${id}-wrong` : ""].filter(Boolean).join(" ");
    const common = { id, "data-key": f.path, "aria-invalid": invalid ? "true" : null, "aria-describedby": about || null, "aria-required": f.required ? "true" : null };
    let control = expression(f.value) ? null : picker(f, common);
    let list = null;
    if (control) send(control, f, f.kind);
    else {
      [control, list] = textual(f, common);
      send(control, f, f.kind === "date" || f.kind === "choice" ? "text" : f.kind);
    }
    // What is picked can be an expression as well.
    const other = !f.constant && (f.kind === "boolean" || f.kind === "choice" || f.kind === "date") ? make("button", {
      type: "button", class: "quiet mode", "aria-pressed": String(expression(f.value)), "aria-label": `Expression for ${f.label}`,
      onclick: () => f.edit(expression(f.value) ? { action: "remove", path: f.path } : { action: "set", path: f.path, value: "@{}" }),
    }, "@{}") : null;
    return make("div", { class: "field" },
      make("label", { for: id }, f.label, f.required ? make("span", { class: "soft" }, " required") : null),
      make("div", { class: "control" }, control, list, other),
      f.doc ? make("p", { id: `${id}-doc` }, f.doc) : null,
      wrong.length ? make("p", { id: `${id}-wrong`, class: invalid ? "wrong" : null }, wrong.map((p) => p.message).join(" ")) : null);
  };

  // pairs are the members of a map, each with a field, and a field for the name of another one.
  const pairs = (f) => {
    if (typeof f.value === "string" && f.value !== "") return field({ ...f, kind: "text" });
    const rows = Object.entries(f.value || {});
    const input = make("input", { "data-key": `${f.path} new`, "aria-label": `Name to add to ${f.label}`, autocomplete: "off", placeholder: f.pick === "xpath" ? "dc:description" : "Name" });
    const add = () => input.value.trim() && f.edit({ action: "set", path: `${f.path}/${pointer(input.value.trim())}`, value: "" }, `${f.path}/${pointer(input.value.trim())}`);
    input.addEventListener("keydown", (e) => {
      if (e.key !== "Enter") return;
      e.preventDefault();
      add();
    });
    return make("fieldset", { class: "pairs" }, make("legend", {}, f.label), f.doc ? make("p", { class: "soft small" }, f.doc) : null,
      ...(f.problems.length ? [make("p", { class: "wrong" }, f.problems.map((p) => p.message).join(" "))] : []),
      ...rows.map(([name, value]) => field({ ...f, label: name, kind: typeof value === "string" ? "text" : "any", path: `${f.path}/${pointer(name)}`, value, doc: "", pick: "", required: false, problems: [] })),
      make("div", { class: "row" }, make("div", { class: "control" }, input, Pick.list(input, { kind: f.pick })), make("button", { type: "button", onclick: add }, "Add")));
  };

  const pointer = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");
  const member = (list, name) => list.find((m) => m.name === name);

  const few = 2; // parameters that need not be given and are shown all the same

  // parameters are the fields of an operation: those that must be given or are given, and the others, folded if they are many.
  const parameters = (card, outline, edit) => {
    const op = outline.operations[card.op];
    if (!op) return [];
    const required = new Set(op.schema.required || []);
    const all = Object.entries(op.schema.properties || {}).map(([name, schema]) => {
      const given = member(card.params, name);
      const f = {
        edit, label: name, path: `${card.path}/params/${pointer(name)}`, value: given?.value, doc: schema.description, required: required.has(name),
        kind: shape(schema, op.types[name]), values: schema.enum || op.values[name] || [], usual: schema.default,
        problems: card.problems.filter((p) => p.param === name), variables: [...card.variables, ...outline.offered],
      };
      f.pick = Pick.kindOf(name, op.names[name], op.types[name]);
      f.problems = f.problems.map((p) => ({ ...p, message: brief(p) }));
      return { first: required.has(name) || given || f.problems.length, element: f.kind === "pairs" ? pairs(f) : field({ ...f, ...{ kind: f.kind, pick: f.pick } }) };
    });
    const rest = all.filter((p) => !p.first).map((p) => p.element);
    if (rest.length <= few) return all.map((p) => p.element);
    return [...all.filter((p) => p.first).map((p) => p.element), ...(rest.length ? [folded(`${card.path} more`, all.length > rest.length ? "More parameters" : "Parameters", rest)] : [])];
  };

  // brief is a message without the step and the operation that its card shows.
  const brief = (p) => (p.warning ? "Warning: " : "") + p.message.replace(/^step \d+: [^:]+: /, "").replace(/^parameter "[^"]+": /, "") + (p.nearest ? `, perhaps ${p.nearest}` : "");

  const opened = new Set();
  const folded = (key, title, content) => {
    const details = make("details", { open: opened.has(key) }, make("summary", { "data-key": key }, title), ...content);
    details.addEventListener("toggle", () => (details.open ? opened.add(key) : opened.delete(key)));
    return details;
  };

  // named tells what members of steps name.
  const named = { "onError/chain": "operation", "undo/op": "operation", "wait/document": "document" };

  // keyed makes fields of members of a step: [key, label, kind, documentation].
  const keyed = (card, outline, edit, rows) => rows.map(([name, label, kind, doc, whole]) => field({
    edit, label, doc, path: `${card.path}/${name}`, kind, whole, value: name.split("/").reduce((v, part) => (v && typeof v === "object" ? v[part] : undefined), Object.fromEntries(card.members.map((m) => [m.name, m.value]))),
    problems: card.problems.filter((p) => p.param === name).map((p) => ({ ...p, message: brief(p) })), variables: [...card.variables, ...outline.offered],
    values: [], required: false, pick: named[name], constant: kind === "boolean",
  }));

  const blocks = {
    if: [["if", "Condition", "text", "An expression, such as Document.title != ''", true]],
    switch: [["switch", "Value", "text", "An expression; the steps of the case with this value run.", true]],
    each: [["each", "List", "text", "An expression, or input for the input of the step", true], ["item", "Variable of the item", "text", "item, unless it says otherwise"], ["batch", "Items per transaction", "integer"], ["most", "Most items", "integer"]],
    return: [["return", "Value", "any", "Empty for the input of the step"]],
  };
  // waits are the fields of a step that waits. The short form, a duration alone, becomes a map when anything else is entered.
  const waits = (card, outline, edit) => {
    const now = member(card.members, "wait")?.value;
    const short = now === null || typeof now !== "object";
    const full = !short ? edit : (e) => edit(e.path.endsWith("/for") ? { ...e, path: `${card.path}/wait` } : { action: "set", path: `${card.path}/wait`, value: { ...(now ? { for: now } : {}), [e.path.slice(e.path.lastIndexOf("/") + 1)]: e.value } });
    const members = short ? [...card.members.filter((m) => m.name !== "wait"), { name: "wait", value: { for: now } }] : card.members;
    const problems = card.problems.map((p) => (p.param === "wait" ? { ...p, param: "wait/for" } : p));
    return keyed({ ...card, members, problems }, outline, full, [
      ["wait/for", "For", "text", "At most this long, such as 90s, 12h or 30d"], ["wait/until", "Until", "date", "Instead: until this instant"],
      ["wait/task", "End of a task", "any", "true for a task of the document, or the id of a task"], ["wait/event", "Event", "text", "Name of an event of the document, such as documentModified"],
      ["wait/document", "Document", "text", "Of the task or event; without it, the input"],
    ]);
  };

  // step is the form of a step.
  const step = (card, outline, edit) => {
    const op = outline.operations[card.op];
    const more = [["when", "Only when", "text", "An expression; unless it is true, the step is skipped", true], ["as", "Keep the result as", "text", "Name of a variable"], ["retry/times", "Tries", "integer", "How often it is tried if it fails for a reason that may pass"], ["retry/pause", "Pause between tries", "text", "Such as 500ms"]];
    const failing = member(card.members, "onError")?.value;
    if (!failing || failing.chain !== undefined) more.push(["onError/chain", "If it fails, run", "text", "Name of an operation or chain"]);
    if (!failing || failing.continue !== undefined) more.push(["onError/continue", "If it fails, go on", "boolean", "With the input of the step"]);
    if (op) more.push(["undo/op", "If the call fails later, undo by", "text", "Name of an operation or chain that makes up for the step"], ["undo/params", "Parameters of the undo", "json", "As JSON; This is what the step returned"]);
    return make("div", { class: "form" },
      op ? make("p", { class: "soft small" }, op.description) : null,
      ...(card.kind === "operation" ? parameters(card, outline, edit) : card.kind === "wait" ? waits(card, outline, edit) : keyed(card, outline, edit, blocks[card.kind] || [])),
      card.kind === "return" ? null : folded(`${card.path} when`, "Condition, result and errors", keyed(card, outline, edit, more)));
  };

  // settings is the form of the chain itself.
  const settings = (outline, edit) => {
    const value = Object.fromEntries(outline.members.map((m) => [m.name, m.value]));
    const line = (name, label, kind, doc, values = []) => field({ edit, label, kind, doc, path: `/${name}`, value: value[name], values, constant: true });
    const declared = (Array.isArray(value.params) ? value.params : []).map((p, i) => make("fieldset", { class: "declared" }, make("legend", {}, p?.name || `Parameter ${i + 1}`),
      ...[["name", "Name", "text"], ["type", "Type", "choice"], ["required", "Required", "boolean"], ["default", "Default", "any"], ["description", "Description", "text"]].map(([key, label, kind]) => field({ edit, label, kind, path: `/params/${i}/${key}`, value: p?.[key], values: words, constant: true })),
      make("button", { type: "button", class: "quiet danger", onclick: () => edit({ action: "remove", path: `/params/${i}` }) }, `Remove ${p?.name || "parameter"}`)));
    return [line("name", "Name", "text", "Of the operation that the chain becomes, such as Invoice.Check"), line("description", "Description", "text"),
      make("div", { class: "row" }, line("input", "Input", "choice", "", words), line("output", "Output", "choice", "", words)),
      make("h3", {}, "Parameters"), ...declared,
      make("button", { type: "button", id: "declare", onclick: () => edit({ action: "insert", path: `/params/${declared.length}`, value: { name: `value${declared.length + 1}`, type: "string" } }) }, "Add a parameter")];
  };

  return { step, settings, field, brief, shape };
})();
