// What the editor of scripts completes: operations and their parameters from the registry, and the functions that the typings
// declare.
"use strict";
const ScriptWords = (() => {
  // of makes the words of a registry, of the text of catena.d.ts and of the modules. describe resolves to an operation with its parameters.
  const of = (operations, typings, shared, describe) => {
    const byName = new Map();
    for (const op of operations) for (const name of [op.id, ...(op.aliases || [])]) byName.set(name, op);

    // members of the helpers that the typings declare as constants, such as Fn.
    const declared = new Map();
    for (const [, name, body] of typings.matchAll(/^declare const (\w+): \{\n([\s\S]*?)^\};/gm)) {
      declared.set(name, [...body.matchAll(/^ {2}(\w+)(\(.*\): .*?);$/gm)].map(([, label, detail]) => ({ label, detail })));
    }

    // members lists what may follow a name: the parts of names of operations, or declared functions.
    const members = (head, more) => {
      if (declared.has(head) && !more.length) return declared.get(head);
      const prefix = [head, ...more].join(".") + ".";
      const found = new Map();
      for (const [name, op] of byName) {
        if (!name.startsWith(prefix)) continue;
        const [part, deeper] = name.slice(prefix.length).split(".");
        if (!found.has(part)) found.set(part, deeper ? { label: part, type: "namespace" } : { label: part, detail: signature(op), info: () => about(op) });
      }
      return [...found.values()].sort((a, b) => a.label.localeCompare(b.label));
    };

    const signature = (op) => {
      const takes = [...new Set((op.signature || []).filter((_, i) => i % 2 === 0))];
      const gives = [...new Set((op.signature || []).filter((_, i) => i % 2 === 1))];
      return `${takes.slice(0, 3).join(" | ") || "any"} → ${gives.slice(0, 3).join(" | ") || "any"}`;
    };

    // Operations are described one by one: all descriptions together are larger than the rest of the page.
    const described = new Map();
    const read = (op) => {
      if (!described.has(op.id)) described.set(op.id, describe(op.id).catch((error) => (described.delete(op.id), Promise.reject(error))));
      return described.get(op.id);
    };
    const about = (op) => read(op).then((d) => make("div", {}, d.description), () => null);
    const params = async (name) => {
      const op = byName.get(name);
      if (!op) return [];
      return (await read(op)).params.map((p) => ({ name: p.name, type: p.type, required: p.required, description: p.description }));
    };

    // modules lists the names of modules; exports what one exports, or without a name what all do.
    const modules = () => shared.map((m) => ({ label: m.name, type: "namespace", detail: `version ${m.version}`, info: m.exports.map((e) => e.name).join(", ") }));
    const exports = (name) => shared.filter((m) => !name || m.name === name).flatMap((m) => m.exports.filter((e) => e.name !== "default").map((e) => ({ label: e.name, type: e.kind || "variable", detail: `${e.kind === "function" ? `(${e.params || ""})` : ""} from "${m.name}"` })));

    const families = [...new Set([...byName.keys()].filter((n) => n.includes(".")).map((n) => n.split(".")[0]))];
    const all = [
      ...families.map((label) => ({ label, type: "namespace" })), ...[...declared.keys()].map((label) => ({ label, type: "namespace" })),
      ...["await", "break", "case", "catch", "const", "continue", "else", "for", "function", "if", "import", "let", "new", "return", "switch", "throw", "try", "typeof", "while"].map((label) => ({ label, type: "keyword" })),
      { label: "input", type: "variable" }, { label: "params", type: "variable" }, { label: "console", type: "variable" },
    ];
    return { members, params, modules, exports, globals: () => all };
  };
  return { of };
})();
