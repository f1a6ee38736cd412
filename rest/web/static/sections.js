// Takes a deck's HTML apart into its top-level sections and puts it together again, byte for
// byte; and a Markdown slide into its Markdown and what is around it.
"use strict";
const Sections = (() => {
  const token = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b(?:"[^"]*"|'[^']*'|[^'">])*>[\s\S]*?(?:<\/\1\s*>|$)|<(\/?)section\b(?:"[^"]*"|'[^']*'|[^'">])*>/gi;

  // split returns the slides with what stood before each, and what stood after the last.
  const split = (html) => {
    const slides = [];
    let depth = 0;
    let start = 0;
    let end = 0; // of the last slide
    for (const m of html.matchAll(token)) {
      if (m[2] === undefined) continue;
      if (m[2] === "") {
        if (depth++ === 0) start = m.index;
      } else if (depth > 0 && --depth === 0) {
        slides.push({ before: html.slice(end, start), html: html.slice(start, m.index + m[0].length) });
        end = m.index + m[0].length;
      }
    }
    return { slides, after: html.slice(end) };
  };

  const join = (deck) => deck.slides.map((s) => s.before + s.html).join("") + deck.after;

  const markdown = /^(<section\b(?:"[^"]*"|'[^']*'|[^'">])*\bdata-markdown(?:=""|='')?(?=[\s>])(?:"[^"]*"|'[^']*'|[^'">])*>\s*<script\b(?:"[^"]*"|'[^']*'|[^'">])*>)([\s\S]*?)(<\/script\s*>\s*<\/section\s*>)$/i;

  // written returns the Markdown of a slide, or null if it is written in HTML.
  const written = (html) => {
    const m = html.match(markdown);
    return m ? { open: m[1], text: m[2], close: m[3] } : null;
  };

  // A template ends at the first </script.
  const harmless = (text) => text.replace(/<\/(script)/gi, "<\\/$1");

  const rewritten = (html, text) => {
    const m = written(html);
    return m.open + harmless(text) + m.close;
  };

  const toMarkdown = (html) => {
    const inner = html.replace(/^<section\b(?:"[^"]*"|'[^']*'|[^'">])*>\s*/i, "").replace(/\s*<\/section\s*>$/i, "");
    return `<section data-markdown>\n<script type="text/template">\n${harmless(inner)}\n</script>\n</section>`;
  };

  // title is what a list calls a slide.
  const title = (html) => {
    const md = written(html);
    if (md) {
      const line = md.text.replace(/<!--[\s\S]*?-->/g, "").split("\n").map((l) => l.replace(/^[#>*\-\s]+/, "").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "").trim()).find(Boolean);
      return { text: line || "Empty slide", count: 1 };
    }
    const doc = new DOMParser().parseFromString(html, "text/html"); // runs and loads nothing
    for (const e of doc.querySelectorAll("aside.notes, style, script, svg title")) e.remove();
    const heading = doc.querySelector("h1,h2,h3,h4,h5,h6");
    const text = (heading?.textContent || doc.body.textContent || "").replace(/\s+/g, " ").trim();
    const about = text || doc.querySelector("img[alt]")?.alt || "";
    const count = doc.querySelectorAll("section section").length;
    return { text: about.slice(0, 80) || "Slide without text", count: Math.max(1, count) };
  };

  const aside = /[ \t]*<aside\b(?:"[^"]*"|'[^']*'|[^'">])*\bclass\s*=\s*(?:"[^"]*\bnotes\b[^"]*"|'[^']*\bnotes\b[^']*'|notes\b)(?:"[^"]*"|'[^']*'|[^'">])*>([\s\S]*?)<\/aside\s*>\n?/i;
  const line = /^\s*notes?:[ \t]*/im; // where the notes of a Markdown slide begin

  // notes returns the speaker notes of a slide, null for a stack, whose slides have their own.
  const notes = (html) => {
    const md = written(html);
    if (md) {
      const m = md.text.match(line);
      return m ? md.text.slice(m.index + m[0].length).trim() : "";
    }
    if ((html.match(/<section\b/gi) || []).length > 1) return null;
    const m = html.match(aside);
    if (!m) return "";
    return new DOMParser().parseFromString(m[1].replace(/<\/p>\s*<p>/gi, "\n\n").replace(/<br\s*\/?>/gi, "\n"), "text/html").body.textContent.trim();
  };

  // noted returns a slide with other speaker notes.
  const noted = (html, text) => {
    const md = written(html);
    if (md) {
      const m = md.text.match(line);
      const body = (m ? md.text.slice(0, m.index) : md.text).trimEnd();
      return md.open + harmless(`${body}\n${text ? `\nNote: ${text}\n` : ""}`) + md.close;
    }
    const p = document.createElement("p");
    p.textContent = text;
    const note = text ? `<aside class="notes">${p.innerHTML}</aside>\n` : "";
    if (aside.test(html)) return html.replace(aside, (all) => (note ? `${all.match(/^[ \t]*/)[0]}${note}` : ""));
    return note ? html.replace(/\n?([ \t]*)<\/section\s*>\s*$/i, (end, indent) => `\n${indent}  ${note}${end.replace(/^\n/, "")}`) : html;
  };

  // inside returns the place in a slide's source that is nearest to one and where content may stand:
  // between its tags, before its speaker notes.
  const inside = (html, at) => {
    const open = html.match(/^\s*<section\b(?:"[^"]*"|'[^']*'|[^'">])*>/i);
    if (!open) return at;
    const end = html.search(/\s*(?:<aside\b[^>]*\bnotes\b[^>]*>[\s\S]*)?<\/section\s*>\s*$/i);
    return Math.min(Math.max(at, open[0].length), end < open[0].length ? open[0].length : end);
  };

  return { split, join, inside, written, notes, noted, rewritten, toMarkdown, title };
})();
