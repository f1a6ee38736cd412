// Forms made from schemas: those of documents, vocabularies and users, and the JSON Schemas of operations. A field is
// { name, label, kind, list, required, values, directory, doc, secret, fields, … }; a form gives back the values that were entered.
"use strict";
const Form = (() => {
  let serial = 0;

  const words = (name) => {
    const text = name.replace(/^.*:/, "").replace(/[_-]/g, " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
    return text.charAt(0).toUpperCase() + text.slice(1);
  };
  const local = (v) => {
    const at = new Date(v);
    return Number.isNaN(at.getTime()) ? "" : new Date(at - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
  };
  // same compares values. The address of a file changes with the document, also where the file is the same.
  const same = (a, b) => {
    const plain = (v) => JSON.stringify(v ?? null, (_, x) => (x?.digest ? { ...x, data: undefined, blobUrl: undefined } : x));
    return plain(a) === plain(b);
  };

  // A control is { element, value() }; value returns null where nothing was entered, and throws where it cannot be read.
  const line = (f, value, common) => {
    const long = typeof value === "string" && (value.includes("\n") || value.length > 90);
    if (f.kind === "text" && (f.lines || long)) {
      const area = make("textarea", { ...common, rows: f.lines || 4, class: f.code ? "mono" : null, spellcheck: f.code ? "false" : null }, value ?? "");
      return { element: area, value: () => (area.value === "" ? null : area.value) };
    }
    const input = make("input", { ...common, value: value ?? "", autocomplete: f.secret ? "new-password" : "off", type: f.secret ? "password" : "text", placeholder: f.usual === undefined || f.usual === null || typeof f.usual === "object" ? null : String(f.usual), maxlength: f.most, pattern: f.pattern });
    const pick = !f.secret && (f.pick || f.values?.length) ? Pick.list(input, { kind: f.pick, values: f.values || [] }) : null;
    return { element: pick ? make("span", {}, input, pick) : input, value: () => {
      if (input.value && f.least && [...input.value].length < f.least) throw new Error(`At least ${f.least} characters.`);
      return input.value === "" ? null : input.value;
    } };
  };

  const number = (f, value, common) => {
    const input = make("input", { ...common, type: "number", step: f.kind === "integer" ? 1 : "any", value: value ?? "", min: f.min, max: f.max, placeholder: f.usual ?? null });
    return { element: input, value: () => {
      if (input.validity.badInput) throw new Error("Enter a number.");
      return input.value === "" ? null : Number(input.value);
    } };
  };

  const boolean = (f, value, common) => {
    if (!f.required && value === undefined) { // may be left open
      const select = make("select", common, make("option", { value: "" }, f.usual === undefined || f.usual === null ? "" : `usually ${f.usual ? "yes" : "no"}`), make("option", { value: "true" }, "yes"), make("option", { value: "false" }, "no"));
      return { element: select, value: () => (select.value === "" ? null : select.value === "true") };
    }
    const input = make("input", { ...common, type: "checkbox", checked: value === true });
    return { element: input, value: () => (input.checked || value !== null ? input.checked : null) };
  };

  const moment_ = (f, value, common) => {
    const first = value ? local(value) : "";
    const input = make("input", { ...common, type: "datetime-local", value: first });
    return { element: input, value: () => {
      if (input.validity.badInput) throw new Error("Enter day and time.");
      return input.value === "" ? null : input.value === first ? value : new Date(input.value).toISOString();
    } };
  };

  // choice is a list of values, or of the entries of a vocabulary, which come later.
  const choice = (f, value, common) => {
    const option = ([v, label]) => make("option", { value: v, selected: String(v) === String(value ?? "") }, label);
    const select = make("select", common, make("option", { value: "" }, f.none || (f.usual ? `usually ${f.usual}` : "")), ...(f.values || []).map((v) => option(Array.isArray(v) ? v : [v, v])));
    const keep = () => value && ![...select.options].some((o) => o.value === String(value)) && select.append(option([value, value]));
    keep();
    if (f.directory) {
      Pick.entries(f.directory).then((all) => {
        const chosen = select.value;
        select.replaceChildren(make("option", { value: "" }, ""), ...all.map(option));
        keep();
        select.value = chosen;
      });
    }
    return { element: select, value: () => (select.value === "" ? null : select.value) };
  };

  const size = (n) => (n < 1000 ? `${n} bytes` : n < 1e6 ? `${Math.round(n / 1e3)} kB` : `${(n / 1e6).toFixed(1)} MB`);

  // file keeps, removes or replaces a file; a new one is uploaded when the form is sent.
  const file = (f, value, common) => {
    let now = value;
    const input = make("input", { ...common, type: "file" });
    const about = make("span", { class: "soft small" });
    const drop = make("button", { type: "button", class: "quiet danger", "aria-label": `Remove the file of ${f.label}`, onclick: () => {
      now = null;
      input.value = "";
      say();
    } }, "Remove");
    const say = () => {
      about.textContent = now ? `${now.name || "file"}, ${size(Number(now.length || now.size || 0))}` : "No file";
      drop.hidden = !now;
    };
    input.addEventListener("change", () => {
      if (input.files.length) now = input.files[0];
      say();
    });
    say();
    return { element: make("div", { class: "row" }, input, about, drop), value: () => now, focus: input };
  };

  const json = (f, value, common) => {
    const first = value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
    const area = make("textarea", { ...common, rows: Math.min(8, first.split("\n").length + 1), class: "mono", spellcheck: "false", placeholder: f.kind === "pairs" ? "{}" : "JSON" }, first);
    return { element: area, value: () => {
      if (area.value.trim() === "") return null;
      try {
        return JSON.parse(area.value);
      } catch (error) {
        if (f.kind === "any") return area.value;
        throw new Error(`Not JSON: ${error.message}`);
      }
    } };
  };

  const plain = { text: line, integer: number, number, boolean, date: moment_, choice, blob: file, json, any: json, pairs: json };

  // chips is a list of short values, each of which is removed by its button.
  const chips = (f, value, common) => {
    const all = make("ul", { class: "chips", "aria-label": f.label });
    const item = (v, text) => {
      if ([...all.children].some((c) => c.dataset.value === v)) return;
      const chip = make("li", { class: "tag", "data-value": v }, text, make("button", { type: "button", class: "quiet", "aria-label": `Remove ${text.trim()}`, onclick: () => {
        chip.remove();
        (one.focus || one.element).focus();
      } }, "×"));
      all.append(chip);
    };
    const one = f.directory || f.enum ? choice({ ...f, required: false }, null, common) : line({ ...f, kind: "text" }, null, common);
    const input = one.element.matches("input, select, textarea") ? one.element : one.element.querySelector("input");
    one.focus = input;
    const take = () => {
      const v = input.value.trim();
      if (!v) return;
      item(v, input.selectedOptions?.[0]?.textContent.trim() || v);
      input.value = "";
    };
    if (input.matches("select")) input.addEventListener("change", take);
    // A value that becomes a chip moves what is below: not while a button there is pressed, which takes the value itself.
    else input.addEventListener("blur", (e) => e.relatedTarget?.matches("button") || take());
    input.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || input.matches("select")) return;
      e.preventDefault();
      take();
    });
    for (const v of value || []) item(String(v), String(v));
    if (f.directory) Pick.entries(f.directory).then((texts) => {
      const of = new Map(texts);
      for (const c of all.children) if (of.has(c.dataset.value)) c.firstChild.textContent = of.get(c.dataset.value).trim();
    });
    return { element: make("div", { class: "many" }, all, one.element), value: () => (take(), [...all.children].map((c) => c.dataset.value)), focus: input };
  };

  // group is the parts of a complex value.
  const group = (f, value) => {
    const parts = f.fields.map((part) => field(part, value?.[part.name]));
    return { element: make("div", { class: "pairs" }, ...parts.map((p) => p.element)), parts, value: () => {
      const out = Object.fromEntries(parts.map((p) => [p.field.name, p.value()]));
      return Object.values(out).every((v) => v === null || (Array.isArray(v) && !v.length)) ? null : out;
    } };
  };

  // rows is a list of values of any kind.
  const rows = (f, value) => {
    const box = make("div", { class: "many" });
    let all = [];
    const add = (v) => {
      const one = field({ ...f, list: false, label: `${f.label} ${all.length + 1}`, doc: "" }, v);
      const whole = make("div", { class: "one" }, one.element, make("button", { type: "button", class: "quiet danger", "aria-label": `Remove ${f.label} ${all.length + 1}`, onclick: () => {
        whole.remove();
        all = all.filter((x) => x !== one);
        button.focus();
      } }, "Remove"));
      all.push(one);
      box.insertBefore(whole, button);
      return one;
    };
    const button = make("button", { type: "button", onclick: () => add().element.querySelector("input, select, textarea, button")?.focus() }, `Add to ${f.label.toLowerCase()}`);
    box.append(button);
    for (const v of value || []) add(v);
    return { element: box, get parts() { return all; }, value: () => all.map((one) => one.value()).filter((v) => v !== null) };
  };

  const control = (f, value, common) => {
    if (f.list) return f.kind === "text" || f.kind === "choice" ? chips(f, value, common) : rows(f, value);
    return f.kind === "complex" ? group(f, value) : (plain[f.kind] || line)(f, value, common);
  };

  // field is a control with its label, what it is for and what is wrong with it.
  const field = (f, value) => {
    const id = `f${++serial}`;
    f = { ...f, label: f.label || words(f.name) };
    const common = { id, name: f.name, "aria-required": f.required ? "true" : null, "aria-describedby": f.doc ? `${id}-doc ${id}-wrong` : `${id}-wrong` };
    const inner = control(f, value, common);
    const wrong = make("p", { id: `${id}-wrong`, class: "wrong", hidden: true });
    const doc = f.doc ? make("p", { id: `${id}-doc` }, f.doc) : null;
    const many = inner.parts || f.kind === "complex" || (f.list && f.kind !== "text" && f.kind !== "choice");
    const name = [f.label, f.required ? make("span", { class: "soft" }, " required") : null].filter(Boolean);
    const check = inner.element.type === "checkbox";
    const element = many ? make("fieldset", { class: "field", "data-field": f.name }, make("legend", {}, ...name), doc, inner.element, wrong)
      : check ? make("div", { class: "field", "data-field": f.name }, make("label", { class: "check" }, inner.element, ...name), doc, wrong)
        : make("div", { class: "field", "data-field": f.name }, make("label", { for: id }, ...name), inner.element, doc, wrong);
    const self = { field: f, element, first: value, inner };
    element.addEventListener("input", () => self.say("")); // it was about the value before
    // say shows what is wrong; an empty text takes it back.
    self.say = (text) => {
      wrong.textContent = text;
      wrong.hidden = !text;
      const input = inner.focus || (inner.element.matches("input, select, textarea") ? inner.element : inner.element.querySelector("input, select, textarea, button"));
      if (text) input?.setAttribute("aria-invalid", "true");
      else input?.removeAttribute("aria-invalid");
      return input;
    };
    // show hides a field that other values make needless; it is not required then.
    self.show = (on) => (element.hidden = !on);
    self.value = () => {
      try {
        return inner.value();
      } catch (error) {
        self.say(error.message)?.focus();
        throw new Error(`${f.label}: ${error.message}`, { cause: "field" });
      }
    };
    return self;
  };

  // of makes a form of fields. Folded fields are behind a summary.
  const of = (fields, values = {}, { folded = "More" } = {}) => {
    const all = fields.map((f) => field(f, values[f.name]));
    const shown = all.filter((x) => !x.field.folded).map((x) => x.element);
    const rest = all.filter((x) => x.field.folded).map((x) => x.element);
    const element = make("div", { class: "form" }, ...shown, rest.length ? make("details", {}, make("summary", {}, shown.length ? folded : "Fields"), ...rest) : null);
    const calmAll = () => all.forEach((x) => x.say(""));
    const need = (out) => {
      const missing = all.filter((x) => x.field.required && !x.element.hidden && (out[x.field.name] === null || out[x.field.name] === undefined));
      missing.forEach((x) => x.say("Required."));
      if (!missing.length) return;
      missing[0].say("Required.")?.focus();
      throw new Error(`${missing.map((x) => x.field.label).join(", ")}: required`);
    };
    const o = {
      element,
      // value returns everything that was entered; of what is empty, nothing.
      value: () => {
        calmAll();
        const out = Object.fromEntries(all.map((x) => [x.field.name, x.value()]));
        need(out);
        return Object.fromEntries(Object.entries(out).filter(([, v]) => v !== null && !(Array.isArray(v) && !v.length)));
      },
      // entered returns the values as they are so far, complete or not, but for what cannot be read.
      entered: () => Object.fromEntries(all.flatMap((x) => {
        try {
          return [[x.field.name, x.inner.value()]];
        } catch {
          return [];
        }
      })),
      // changed returns what differs from the first values; null where a value was removed.
      changed: () => {
        calmAll();
        const out = Object.fromEntries(all.map((x) => [x.field.name, x.value()]));
        need(out);
        return Object.fromEntries(all.map((x) => [x.field.name, out[x.field.name], x.first]).filter(([, now, first]) => !(same(now, first) || ((first === null || first === undefined) && (now === null || (Array.isArray(now) && !now.length) || now === false)))).map(([name, now]) => [name, now]));
      },
      // fail shows an answer of the server at the fields that it names; false: it names none.
      fail: (error) => {
        let focus = null;
        for (const [name, text] of error.fields || []) {
          const x = all.find((y) => name === y.field.name || name.startsWith(`${y.field.name}/`) || name.startsWith(`${y.field.name}.`));
          if (!x) continue;
          x.element.closest("details")?.setAttribute("open", "");
          focus ||= x.say(text);
        }
        focus?.focus();
        return focus !== null;
      },
      field: (name) => all.find((x) => x.field.name === name),
    };
    return o;
  };

  // ofSchema are the fields of a schema of documents, as the server describes it with constraints, in the order of their declaration.
  const ofSchema = (prefix, { fields = {}, fieldOrder = Object.keys(fields) } = {}) => fieldOrder.map((name) => {
    const def = fields[name];
    const type = typeof def === "string" ? def : def.type;
    const base = type.replace("[]", "");
    const limit = Object.fromEntries((def.constraints || []).map((c) => [c.name, c.parameters]));
    const kind = { string: "text", long: "integer", integer: "integer", double: "number" }[base] || base;
    const f = { name: prefix ? `${prefix}:${name}` : name, label: words(name), kind, list: type.endsWith("[]"), required: "NotNullConstraint" in limit };
    if (limit.LengthConstraint?.Maximum) f.most = Number(limit.LengthConstraint.Maximum);
    if (limit.NumericIntervalConstraint) [f.min, f.max] = [limit.NumericIntervalConstraint.Minimum, limit.NumericIntervalConstraint.Maximum];
    if (limit.EnumConstraint) {
      f.values = limit.EnumConstraint.Values?.split(",").map((v) => v.trim());
      if (kind === "text") [f.kind, f.enum] = ["choice", true];
    }
    if (limit.directoryResolver) [f.kind, f.directory] = ["choice", limit.directoryResolver.directory];
    if (limit.userManagerResolver) f.pick = "who";
    if (limit.documentResolver) f.pick = "document";
    if (kind === "complex") f.fields = ofSchema("", def);
    if (kind === "text" && /^(description|comment|note|text|rights|content|abstract|summary)$/i.test(name)) f.lines = name === "note" ? 10 : 3;
    return f;
  });

  // ofJSON are the fields of a JSON Schema; about(name) may say more of one: { type, names, values, secret }.
  const ofJSON = (schema, about = () => ({})) => Object.entries(schema?.properties || {}).map(([name, s]) => {
    const more = about(name);
    const f = { name, label: name, doc: s.description, required: (schema.required || []).includes(name), usual: s.default, values: s.enum || more.values, secret: more.secret };
    f.folded = !f.required;
    f.pick = Pick.kindOf(name, more.names, more.type);
    if (s.enum) return { ...f, kind: "choice", enum: true };
    if (s.format === "date-time") return { ...f, kind: "date" };
    if (s.type === "integer" || s.type === "number" || s.type === "boolean") return { ...f, kind: s.type };
    if (s.type === "array" && s.items?.type === "string") return { ...f, kind: "text", list: true };
    if (s.type === "array" || s.type === "object") return { ...f, kind: s.type === "array" ? "json" : "pairs" };
    return { ...f, kind: s.type === "string" ? "text" : "any", lines: /^(query|script|source|message|text|body|template)$/i.test(name) ? 3 : undefined };
  });

  return { of, ofSchema, ofJSON, words, size, same };
})();
