// What the editor of scripts completes: operations and their parameters from the registry, and the functions that the typings
// declare.
"use strict";
const ScriptWords = (() => {
  // of makes the words of a registry and of the text of catena.d.ts.
  const of = (operations, typings) => {
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
        if (!found.has(part)) found.set(part, deeper ? { label: part, type: "namespace" } : { label: part, detail: signature(op), info: op.description });
      }
      return [...found.values()].sort((a, b) => a.label.localeCompare(b.label));
    };

    const signature = (op) => {
      const takes = [...new Set((op.signature || []).filter((_, i) => i % 2 === 0))];
      const gives = [...new Set((op.signature || []).filter((_, i) => i % 2 === 1))];
      return `${takes.slice(0, 3).join(" | ") || "any"} → ${gives.slice(0, 3).join(" | ") || "any"}`;
    };

    const params = (name) => (byName.get(name)?.params || []).map((p) => ({ name: p.name, type: p.type, required: p.required, description: p.description }));

    const families = [...new Set([...byName.keys()].filter((n) => n.includes(".")).map((n) => n.split(".")[0]))];
    const all = [
      ...families.map((label) => ({ label, type: "namespace" })), ...[...declared.keys()].map((label) => ({ label, type: "namespace" })),
      ...["await", "break", "case", "catch", "const", "continue", "else", "for", "function", "if", "let", "new", "return", "switch", "throw", "try", "typeof", "while"].map((label) => ({ label, type: "keyword" })),
      { label: "input", type: "variable" }, { label: "params", type: "variable" }, { label: "console", type: "variable" },
    ];
    return { members, params, globals: () => all };
  };
  return { of };
})();
