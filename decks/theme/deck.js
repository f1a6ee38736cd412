// What every document does that shows a deck, with the HTML of its slides: those of the server's
// pages, of an archive, and of a page that is printed.
"use strict";
const Deck = (() => {
  // Formulas are drawn with faces of their own, so that they look the same everywhere; MathML beside them is read aloud.
  const formulas = (root) => {
    if (!window.katex) return;
    const options = { output: "htmlAndMathml", throwOnError: false, trust: false, strict: "ignore", maxSize: 50, maxExpand: 500 };
    for (const block of root.querySelectorAll('[data-block-type="math"]')) {
      const input = block.querySelector(".math-input");
      if (!input) continue;
      let out = block.querySelector(".math-output");
      if (!out) input.after((out = Object.assign(document.createElement("div"), { className: "math-output" })));
      window.katex.render(input.textContent.replace(/^\s*(\\\[|\$\$)|(\\\]|\$\$)\s*$/g, ""), out, { ...options, displayMode: true });
    }
    for (const script of root.querySelectorAll('script[type^="math/tex" i]')) {
      const displayMode = /;\s*mode\s*=\s*display/i.test(script.type);
      const out = document.createElement(displayMode ? "div" : "span");
      out.className = "math-output";
      script.replaceWith(out);
      window.katex.render(script.textContent, out, { ...options, displayMode });
    }
    window.renderMathInElement?.(root, {
      ...options,
      delimiters: [
        { left: "$$", right: "$$", display: true },
        { left: "\\(", right: "\\)", display: false },
        { left: "\\[", right: "\\]", display: true },
      ],
      ignoredTags: ["script", "noscript", "style", "textarea", "pre", "code", "math"],
      ignoredClasses: ["math-input", "math-output", "katex"],
    });
  };

  // On paper pictures are there from the start, and each slide of a stack needs the stack's
  // background itself. Lines of code that are pointed at step by step all look the same on a page
  // that shows every step; only numbers stay.
  const paper = (slides, separate) => {
    for (const lazy of slides.querySelectorAll("img[data-src]:not([src])")) lazy.src = lazy.dataset.src;
    for (const stack of slides.querySelectorAll(":scope > section")) {
      const from = [...stack.attributes].filter((a) => a.name.startsWith("data-background"));
      for (const leaf of stack.querySelectorAll(":scope > section")) {
        if ([...leaf.attributes].some((a) => a.name.startsWith("data-background") && a.name !== "data-background-transition")) continue;
        for (const a of from) leaf.setAttribute(a.name, a.value);
      }
    }
    if (separate) return;
    for (const code of slides.querySelectorAll('pre code[data-line-numbers*="|"]')) code.setAttribute("data-line-numbers", "");
  };

  // The editor of slides.com names the language of code at the block, not at the code, and the colours there too.
  const light = /^(ascetic|color-brewer|docco|github.*|googlecode|idea|solarized-light|tomorrow|vs|xcode)$/;
  const code = () => {
    for (const block of document.querySelectorAll(".slides .sl-block-content[data-highlight-theme]")) {
      block.classList.toggle("light-code", light.test(block.dataset.highlightTheme));
    }
    for (const text of document.querySelectorAll(".slides .sl-block-content > pre[class] > code:not([class])")) text.className = text.parentElement.className;
  };

  // The framework's plugins that the document has; prepare runs when Markdown has become HTML
  // and code has no colours yet.
  const plugins = (prepare) => {
    const before = { id: "prepare", init: (...rest) => (code(), prepare(...rest)) };
    return [window.RevealMarkdown, before, window.RevealHighlight].filter(Boolean);
  };

  return { formulas, paper, plugins };
})();
