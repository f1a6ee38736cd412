// The console's page of operations: search, read, run.
"use strict";
(() => {
  let all = [];
  let chosen = "";

  const shape = (type) => (/^(boolean|integer|long|float|double)$/.test(type) ? type : /^(string|date|document|documentref|path|resource)/i.test(type) ? "string" : "json");

  const input = (p) => {
    const common = { name: p.name, required: p.required };
    const kind = shape(p.type);
    const values = p.values || [];
    if (kind === "boolean") return make("select", common, make("option", { value: "" }, ""), make("option", {}, "true"), make("option", {}, "false"));
    if (kind === "json") return make("textarea", { ...common, rows: 3, spellcheck: "false", placeholder: p.type }, "");
    if (p.secret) return make("input", { ...common, type: "password", autocomplete: "off" });
    const list = `values-${p.name}`;
    const field = make("input", { ...common, type: /integer|long|float|double/.test(kind) ? "number" : "text", step: "any", autocomplete: "off", list: values.length ? list : null });
    if (!values.length) return field;
    return make("span", {}, field, make("datalist", { id: list }, ...values.map((v) => make("option", { value: v }))));
  };

  // value reads a field as the operation wants it; empty fields are left out.
  const value = (p, text) => {
    const kind = shape(p.type);
    if (kind === "boolean") return text === "true";
    if (/integer|long|float|double/.test(kind)) return Number(text);
    if (kind === "string") return text;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };

  // given are the parameters that a form holds.
  const given = (op, f) => {
    const params = {};
    for (const p of op.params) {
      const text = f.get(p.name);
      if (text !== null && text !== "") params[p.name] = value(p, text);
    }
    return params;
  };

  // calls shows calls to copy; again writes them again.
  const calls = (title, write) => {
    const box = make("section", { class: "panel", "aria-label": title });
    const again = () => box.replaceChildren(make("h2", {}, title), ...write(location.origin + site.prefix).flatMap(([name, text]) => [
      make("div", { class: "row" }, make("h3", {}, name), make("button", { type: "button", class: "quiet", "aria-label": `Copy ${name}`, onclick: copy(text) }, "Copy")),
      make("pre", { class: "result", tabindex: "0", "aria-label": name }, text),
    ]));
    again();
    return { box, again };
  };

  const execute = (op, form, out) => tried(async () => {
    const f = new FormData(form);
    const params = given(op, f);
    const dry = f.get("%dry") === "on";
    const { answer, status, type } = await disabling([form.querySelector("button.primary")], () => call("POST", `/api/v1/automation/${encodeURIComponent(op.id)}${dry ? "?dryRun=true" : ""}`,
      f.get("%file")?.size ? withFile(f.get("%file"), params) : { params, input: f.get("%input") || undefined }));
    out.textContent = status === 204 ? "Done, without a result." : type.includes("json") ? JSON.stringify(answer, null, 2) : String(answer).slice(0, 20000);
    out.hidden = false;
    out.focus();
  });

  const show = async (listed) => {
    chosen = listed.id;
    const { answer: op } = await call("GET", `/api/v1/automation/${encodeURIComponent(listed.id)}`); // the list has no parameters
    if (chosen !== op.id) return; // another one was chosen meanwhile
    history.replaceState(null, "", `#${op.id}`);
    for (const b of byId("names").querySelectorAll("button")) {
      if (b.dataset.id === op.id) b.setAttribute("aria-current", "true");
      else b.removeAttribute("aria-current");
    }
    const takes = [...new Set((op.signature || []).filter((_, i) => i % 2 === 0))];
    const gives = [...new Set((op.signature || []).filter((_, i) => i % 2 === 1))];
    const out = make("pre", { class: "result", hidden: true, tabindex: "0", "aria-label": "Result" });
    const form = make("form", { class: "panel" });
    if (takes.some((t) => t !== "void")) {
      form.append(make("label", { class: "field" }, "Input", make("input", { name: "%input", placeholder: "/path, an id, or empty", autocomplete: "off" }), make("p", {}, `Takes ${takes.join(", ")}.`)));
    }
    if (takes.some((t) => /^blob/.test(t))) form.append(make("label", { class: "field" }, "File", make("input", { type: "file", name: "%file" }), make("p", {}, "Instead of the input.")));
    for (const p of op.params) {
      form.append(make("label", { class: "field" }, `${p.name}${p.required ? " *" : ""} `, make("span", { class: "tag" }, p.type), input(p), make("p", {}, p.description || "")));
    }
    form.append(make("div", { class: "row" }, make("label", { class: "check" }, make("input", { type: "checkbox", name: "%dry" }), "Dry run: show the changes without making them"), make("button", { class: "primary" }, "Run")));
    form.addEventListener("submit", execute(op, form, out));
    const snippets = calls("Call it", (base) => {
      const f = new FormData(form);
      return Snippets.of(op, base, f.get("%input"), given(op, f));
    });
    form.addEventListener("input", snippets.again);
    byId("one").replaceChildren(
      make("div", { class: "panel" }, make("h2", {}, op.id), make("p", {}, op.description || ""),
        make("p", { class: "soft" }, `${op.category || ""} · ${takes.join(", ") || "anything"} → ${gives.join(", ") || "anything"}`)),
      form, out, snippets.box);
  };

  const list = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const score = (op) => {
      const name = `${op.id} ${op.label || ""} ${(op.aliases || []).join(" ")}`.toLowerCase();
      const text = `${name} ${op.category || ""} ${op.description || ""}`.toLowerCase();
      return words.every((w) => text.includes(w)) ? words.filter((w) => name.includes(w)).length + 1 : 0;
    };
    const hits = all.map((op) => [score(op), op]).filter(([s]) => s > 0).sort((a, b) => b[0] - a[0] || a[1].id.localeCompare(b[1].id));
    byId("names").replaceChildren(...(hits.length ? hits.map(([, op]) => make("button", { "data-id": op.id, "aria-current": op.id === chosen ? "true" : null, onclick: tried(() => show(op)) }, op.id)) : [make("p", { class: "soft" }, "Nothing found.")]));
  };

  // named shows the operation that the address names.
  const named = async () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const op = all.find((o) => o.id === name || o.aliases?.includes(name));
    if (op) await show(op);
  };

  byId("search").addEventListener("input", list);
  addEventListener("hashchange", tried(named, false));
  byId("one").append(calls("Upload a file", (base) => Snippets.upload(base)).box);
  tried(async () => {
    all = (await call("GET", "/api/v1/automation?view=list")).answer.operations;
    list();
    await named();
  })();
})();
