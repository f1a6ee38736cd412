// Colours the source behind a text field: the field's own letters are clear, and lie over the
// same text in colours.
"use strict";
const Colour = (() => {
  const limit = 60_000; // characters; longer text stays plain, so that typing stays quick

  const html = /(<!--[\s\S]*?(?:-->|$))|(<\/?)([a-z][\w:-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)(>?)/gi;
  const attribute = /([^\s=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"']+)|([^\s=]+)/g;
  const markdown = /(^#{1,6} .*$)|(^\s*(?:[*+-]|\d+\.) )|(^```[\s\S]*?(?:^```|$(?![\s\S])))|(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(^(?:Note|Notes):)|(!?\[[^\]\n]*\]\([^)\n]*\))|(<!--[\s\S]*?-->)/gm;

  const span = (kind, text) => {
    const e = document.createElement("span");
    e.className = `t-${kind}`;
    e.textContent = text;
    return e;
  };

  const parts = (text, pattern, paint) => {
    const out = [];
    let at = 0;
    for (const m of text.matchAll(pattern)) {
      if (m[0] === "") continue;
      out.push(text.slice(at, m.index), ...paint(m));
      at = m.index + m[0].length;
    }
    out.push(text.slice(at));
    return out;
  };

  const inTag = (text) => parts(text, attribute, (m) => (m[4] ? [span("name", m[4])] : [span("name", m[1]), m[2], span("text", m[3])]));
  const paint = {
    html: (text) => parts(text, html, (m) => (m[1] ? [span("note", m[1])] : [span("tag", m[2] + m[3]), ...inTag(m[4]), span("tag", m[5])])),
    markdown: (text) => parts(text, markdown, (m) => {
      const kinds = ["head", "tag", "text", "text", "name", "tag", "head", "note"];
      return [span(kinds[m.slice(1).findIndex((g) => g !== undefined)], m[0])];
    }),
  };

  // over colours the field in a box; the function it returns is called when the text or the
  // language changes.
  const over = (box) => {
    const back = box.querySelector("pre");
    const field = box.querySelector("textarea");
    const follow = () => {
      back.scrollTop = field.scrollTop;
    };
    field.addEventListener("scroll", follow);
    return (language) => {
      const plain = field.value.length > limit;
      box.classList.toggle("coloured", !plain);
      back.replaceChildren(...(plain ? [] : paint[language](field.value)), "\n");
      follow();
    };
  };
  return { over };
})();
