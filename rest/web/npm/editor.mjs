// The editor of scripts: CodeMirror in a shadow root, whose style sheets need no exception in the page's policy.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, snippetCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, javascriptLanguage } from "@codemirror/lang-javascript";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";

// Colours are those of the console, which its style sheet changes in the dark.
const colours = HighlightStyle.define([
  { tag: [t.keyword, t.operatorKeyword, t.modifier], color: "var(--link)", fontWeight: "700" },
  { tag: [t.string, t.special(t.string), t.regexp], color: "var(--good, inherit)" },
  { tag: [t.comment, t.docComment], color: "var(--soft)", fontStyle: "italic" },
  { tag: [t.function(t.variableName), t.function(t.propertyName)], fontWeight: "700" },
  { tag: t.invalid, color: "var(--alert)" },
]);

const looks = EditorView.theme({
  "&": { backgroundColor: "var(--panel)", color: "var(--text, inherit)", border: "1px solid var(--edge)", borderRadius: "8px", fontSize: ".93rem" },
  "&.cm-focused": { outline: "3px solid var(--link)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", minHeight: "22rem", maxHeight: "70vh", overflow: "auto" },
  ".cm-content": { caretColor: "currentColor" },
  ".cm-cursor": { borderLeftColor: "currentColor" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--tint)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--panel)", color: "var(--text, inherit)", border: "1px solid var(--edge)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--tint)", color: "var(--link)" },
  ".cm-completionInfo": { maxWidth: "28rem", whiteSpace: "pre-wrap" },
});

// call finds the call of an operation around a position: its name, and whether the position is among its parameters.
const callAt = (state, pos) => {
  for (let node = syntaxTree(state).resolveInner(pos, -1), inObject = false; node; node = node.parent) {
    if (node.name === "ObjectExpression") inObject = true;
    if (node.name === "CallExpression") {
      const name = state.sliceDoc(node.firstChild.from, node.firstChild.to);
      if (/^[A-Z]\w*(\.\w+)+$/.test(name)) return { name, inObject };
    }
    if (node.name === "ArrowFunction" || node.name === "FunctionExpression" || node.name === "FunctionDeclaration") return null;
  }
  return null;
};

// importAt is the import or export from a module around a position: the string that names the module, if there is one.
const importAt = (state, pos) => {
  for (let node = syntaxTree(state).resolveInner(pos, -1); node; node = node.parent) {
    if (node.name === "ImportDeclaration" || node.name === "ExportDeclaration") return { from: node.getChild("String") };
    if (node.name === "Block") return null;
  }
  return null;
};

// completions offers operations, their parameters and the functions of the language of scripts.
const completions = (load) => async (context) => {
  const path = context.matchBefore(/[\w$]+(?:\.[\w$]*)*/);
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  const imported = importAt(context.state, context.pos);
  if (imported?.from && imported.from.from < context.pos && context.pos <= imported.from.to) {
    const options = (await load()).modules();
    return options.length ? { from: imported.from.from + 1, options, validFor: /^[\w./-]*$/ } : null;
  }
  if (/String|Comment|RegExp/.test(node.name)) return null;
  const words = await load();
  const braces = imported && context.matchBefore(/\{[^{}]*/);
  if (braces) {
    const word = context.matchBefore(/[\w$]*/);
    const options = words.exports(imported.from && context.state.sliceDoc(imported.from.from + 1, imported.from.to - 1));
    return options.length ? { from: word.from, options, validFor: /^[\w$]*$/ } : null;
  }
  if (path?.text.includes(".")) {
    const [head, ...more] = path.text.split(".");
    const options = words.members(head, more.slice(0, -1)).map((m) => ({ label: m.label, type: m.type || "function", detail: m.detail, info: m.info, apply: m.apply }));
    return options.length ? { from: path.to - more.at(-1).length, options, validFor: /^[\w$]*$/ } : null;
  }
  const call = callAt(context.state, context.pos);
  const params = call?.inObject && node.name !== "VariableName" ? await words.params(call.name) : [];
  if (!path && !params.length && !context.explicit) return null;
  const found = params.map((p) => snippetCompletion(`${/^[A-Za-z_$][\w$]*$/.test(p.name) ? p.name : JSON.stringify(p.name)}: \${}`, { label: p.name, type: "property", detail: `${p.type}${p.required ? ", required" : ""}`, info: p.description, boost: p.required ? 2 : 1 }));
  return { from: path ? path.from : context.pos, options: found.length ? found : words.globals(), validFor: /^[\w$]*$/ };
};

// mount puts an editor into a host. Words resolves to what it completes, and is asked when it is needed; check returns what is wrong with a text.
export const mount = (host, { text, label, words, check, changed }) => {
  const shadow = host.attachShadow({ mode: "open" });
  const editable = new Compartment();
  const lint = linter(async (view) => (await check(view.state.doc.toString())).map((p) => {
    const line = view.state.doc.line(Math.min(Math.max(p.line || 1, 1), view.state.doc.lines));
    const from = Math.min(line.from + Math.max((p.column || 1) - 1, 0), line.to);
    const word = /^[\w$.]+/.exec(view.state.sliceDoc(from, line.to));
    return { from, to: word ? from + word[0].length : Math.min(from + 1, line.to), severity: "error", message: p.message };
  }), { delay: 400 });
  const view = new EditorView({
    root: shadow, parent: shadow,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), foldGutter(), highlightActiveLine(), highlightActiveLineGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        javascript(), javascriptLanguage.data.of({ autocomplete: completions(words) }), autocompletion({ icons: false }), lintGutter(), lint,
        syntaxHighlighting(colours), looks, editable.of([]), EditorState.tabSize.of(2), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        // Escape lets the next Tab leave the editor, as CodeMirror's manual advises for the keyboard.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
        EditorView.updateListener.of((u) => {
          if (u.docChanged) changed(u.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    view,
    get text() { return view.state.doc.toString(); },
    set text(s) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: s } });
    },
    focus: () => view.focus(),
    check: () => forceLinting(view),
    show: (line, column = 1) => {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      const pos = Math.min(at.from + column - 1, at.to);
      view.dispatch({ selection: { anchor: pos }, effects: EditorView.scrollIntoView(pos, { y: "center" }) });
      view.focus();
    },
  };
};
