// Starts the presentation framework on a deck's page, which is an archive's or one that is
// about to be printed.
"use strict";
(() => {
  const { print, ...options } = JSON.parse(document.getElementById("deck").textContent);
  const slides = document.querySelector(".slides");

  // Formulas become MathML, which browsers draw by themselves.
  const formulas = () => {
    if (!window.katex) return;
    const how = { output: "mathml", throwOnError: false, trust: false, strict: "ignore", maxSize: 50, maxExpand: 500 };
    for (const input of slides.querySelectorAll('[data-block-type="math"] .math-input')) {
      let out = input.parentNode.querySelector(".math-output");
      if (!out) input.after((out = Object.assign(document.createElement("div"), { className: "math-output" })));
      window.katex.render(input.textContent.replace(/^\s*(\\\[|\$\$)|(\\\]|\$\$)\s*$/g, ""), out, { ...how, displayMode: true });
    }
    window.renderMathInElement?.(slides, {
      ...how,
      delimiters: [
        { left: "$$", right: "$$", display: true },
        { left: "\\(", right: "\\)", display: false },
        { left: "\\[", right: "\\]", display: true },
      ],
      ignoredTags: ["script", "noscript", "style", "textarea", "pre", "code", "math"],
      ignoredClasses: ["math-input", "math-output"],
    });
  };

  // Slides stand in the middle unless their blocks have places of their own.
  const place = () => {
    for (const s of slides.querySelectorAll("section")) {
      if (s.classList.contains("top") || s.querySelector("section")) continue;
      const fixed = s.querySelector(".sl-block") || [...s.querySelectorAll("[style]")].some((e) => e.style.position === "absolute");
      if (!fixed) s.classList.add("center");
    }
  };

  // On paper each slide of a stack needs the stack's background itself.
  const inherit = () => {
    for (const stack of slides.querySelectorAll(":scope > section")) {
      const from = [...stack.attributes].filter((a) => a.name.startsWith("data-background"));
      for (const leaf of stack.querySelectorAll(":scope > section")) {
        if ([...leaf.attributes].some((a) => a.name.startsWith("data-background") && a.name !== "data-background-transition")) continue;
        for (const a of from) leaf.setAttribute(a.name, a.value);
      }
    }
  };

  // The framework asks for the colour of each background after it has changed the page,
  // which has all of the page laid out each time. Backgrounds without a colour of their own
  // differ by their classes only.
  const computed = window.getComputedStyle;
  const colors = new Map();
  window.getComputedStyle = (e, ...rest) => {
    if (!e.classList?.contains("slide-background") || e.style.backgroundColor) return computed.call(window, e, ...rest);
    if (!colors.has(e.className)) colors.set(e.className, { backgroundColor: computed.call(window, e).backgroundColor });
    return colors.get(e.className);
  };

  if (!slides.querySelector("section")) slides.append(document.createElement("section"));
  // Lines of code that are pointed at step by step are all alike on a page that shows every
  // step; only numbers stay.
  const plain = () => {
    for (const code of slides.querySelectorAll('pre code[data-line-numbers*="|"]')) code.setAttribute("data-line-numbers", "");
  };

  const prepare = () => {
    place();
    if (print && !options.pdfSeparateFragments) plain();
    if (print) inherit();
    formulas();
  };
  const plugins = [window.RevealMarkdown, window.RevealHighlight].filter(Boolean);
  plugins.splice(window.RevealMarkdown ? 1 : 0, 0, { id: "place", init: prepare });
  if (print) {
    for (const lazy of slides.querySelectorAll("img[data-src]:not([src])")) lazy.src = lazy.dataset.src;
    Reveal.on("pdf-ready", async () => {
      await document.fonts.ready;
      await Promise.all([...document.images].map((i) => i.decode().catch(() => {})));
      document.documentElement.dataset.printable = "yes";
      window.catenaPageReady?.("");
    });
  }
  Reveal.initialize({ ...options, plugins }).then(() => {
    window.getComputedStyle = computed;
    document.documentElement.dataset.ready = "yes";
  });
})();
