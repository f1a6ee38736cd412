// Runs of a chain with values to test it with, and its versions.
"use strict";
const ChainRun = (() => {
  // form makes fields for the input and the declared parameters of a chain.
  const form = (outline) => {
    const value = (name) => outline.members.find((m) => m.name === name)?.value;
    const given = {};
    const fields = [];
    const add = (key, label, kind, doc, more = {}) => {
      fields.push(ChainForm.field({
        label, kind, doc, path: `try ${key}`, value: given[key], values: [], constant: true, ...more,
        edit: (e) => {
          if (e.action === "remove") delete given[key];
          else given[key] = e.value;
        },
      }));
    };
    if (value("input") === "blob") {
      const file = make("input", { id: "try-file", type: "file", "data-key": "try file" });
      file.addEventListener("change", () => {
        given["%file"] = file.files[0];
      });
      fields.push(make("div", { class: "field" }, make("label", { for: "try-file" }, "File"), file));
    } else if (value("input") !== "void") add("%input", "Input", "text", value("input") ? `A ${value("input")}: path or id` : "Path or id of a document, or empty", { pick: "document" });
    for (const p of Array.isArray(value("params")) ? value("params") : []) {
      if (!p?.name) continue;
      const kind = p.values ? "choice" : { boolean: "boolean", integer: "integer", long: "integer", float: "number", date: "date", stringlist: "lines", list: "json", map: "json", properties: "json", object: "any" }[p.type] || "text";
      add(`param ${p.name}`, p.name, kind, p.description, { required: p.required, usual: p.default, values: p.values || [], pick: Pick.kindOf(p.name, "", p.type) });
    }
    return { fields, given };
  };

  // start runs a saved chain, or a text that is not saved; a dry run is traced.
  const start = async (name, given, dry, source) => {
    const values = Object.fromEntries(Object.entries(given).filter(([k]) => k.startsWith("param ")).map(([k, v]) => [k.slice(6), v]));
    const params = source === undefined ? values : { source, params: values };
    const body = given["%file"] ? withFile(given["%file"], params) : { params, input: given["%input"] };
    const { answer, status } = await call("POST", `/api/v1/automation/${encodeURIComponent(source === undefined ? name : "Chain.Run")}${dry ? "?dryRun=true&trace=true" : ""}`, body);
    const text = status === 204 ? "Done, without a result." : typeof answer === "string" ? answer.slice(0, 20000) : JSON.stringify(dry ? answer.value : answer, null, 2);
    const out = dry ? answer.value : answer;
    return { text, trace: dry ? (source === undefined ? answer.trace : answer.trace?.steps?.[0]) : null, waits: Boolean(bare(out)?.run && bare(out)?.state) };
  };

  const blocks = new Set(["each", "if", "switch", "parallel", "wait", "return"]);

  // steps collects what the steps of a chain did by their lines; what chains that it calls did counts for the step that calls them.
  const steps = (trace) => {
    const byLine = new Map();
    const walk = (t) => {
      for (const s of t.steps || []) {
        const at = byLine.get(s.line) || { times: 0, changes: [], error: "" };
        at.times++;
        if (!blocks.has(s.op)) at.changes.push(...(s.changes || []));
        at.error = at.error || (blocks.has(s.op) ? "" : s.error || "");
        byLine.set(s.line, at);
        if (blocks.has(s.op)) walk(s);
      }
    };
    walk(trace);
    return byLine;
  };

  // versions lists the versions of a chain or script, each with what it changed and a way back to it.
  const versions = async (name, restored, family = "Chain") => {
    const all = await run(`${family}.Versions`, { name });
    const diff = (v) => {
      const out = make("pre", { class: "result", tabindex: "0", hidden: true, "aria-label": `Changes of version ${v.version}` });
      const button = make("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: tried(async () => {
        out.hidden = !out.hidden;
        button.setAttribute("aria-expanded", String(!out.hidden));
        if (!out.hidden) out.textContent = await run(`${family}.Diff`, { name, from: v.version - 1, to: v.version });
      }) }, "Changes");
      return [v.version > 1 ? button : null, out];
    };
    return all.map((v, i) => {
      const [button, out] = diff(v);
      return make("li", {}, make("div", {}, make("strong", {}, `Version ${v.version}`), make("p", { class: "small" }, `${v.author}${v.note ? ` · ${v.note}` : ""} · `, moment(v.time))), button,
        i ? make("button", { type: "button", onclick: tried(() => restored(v.version)), "aria-label": `Restore version ${v.version}` }, "Restore") : make("span", { class: "tag good" }, "current"), out);
    });
  };

  return { form, start, steps, versions };
})();
