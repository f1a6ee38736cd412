// What all sandboxed documents do with the HTML of slides: where links lead, how a deck
// looks. They have no secrets: what the HTML could do is bounded by the sandbox and its
// policy.
"use strict";
const Fill = (() => {
  // The framework notes places in a store that sandboxed documents do not have.
  Object.defineProperty(window, "sessionStorage", { value: { getItem: () => null, setItem: () => undefined } });

  // A link leads out of the deck in a window of its own, and never takes this one along.
  const aim = (root) => {
    for (const a of root.querySelectorAll("a")) {
      const to = a.getAttribute("href") ?? a.getAttribute("xlink:href") ?? "#";
      if (to.startsWith("#")) {
        a.removeAttribute("target");
      } else {
        a.setAttribute("target", "_blank");
        a.setAttribute("rel", "noopener noreferrer nofollow");
      }
    }
  };

  // put replaces the slides by HTML that the server has not cleaned yet.
  const put = (slides, html) => {
    const parsed = document.createElement("template");
    parsed.innerHTML = String(html);
    for (const e of parsed.content.querySelectorAll('base, link, meta, script:not([type="text/template" i])')) e.remove(); // a refresh would end the document
    slides.replaceChildren(parsed.content);
    if (!slides.querySelector("section")) slides.append(document.createElement("section"));
  };

  const finish = (root) => {
    aim(root);
    Deck.formulas(root);
  };

  // theme takes the colours and the font that the editor has chosen.
  const sheet = document.getElementById("theme");
  const theme = (o) => {
    const name = `${o.theme_color}.${o.theme_font}.css`;
    const address = sheet.href.replace(/[^/]*$/, name);
    if (/^[a-z0-9-]+\.[a-z0-9-]+\.css$/.test(name) && sheet.href !== address) sheet.href = address;
  };

  // trimmed is code without the empty lines around it and without what all its lines begin with.
  const trimmed = (code) => {
    const lines = code.replace(/^(?:[ \t]*\n)+|\s+$/g, "").split("\n");
    const indents = lines.filter((l) => l.trim()).map((l) => l.match(/^[ \t]*/)[0].length);
    const common = Math.min(...indents, 1000);
    return lines.map((l) => l.slice(common)).join("\n");
  };

  const whole = (n, low) => (Number.isInteger(n) && n >= low ? n : low);

  return { put, aim, finish, theme, trimmed, whole };
})();
