// Starts the presentation framework on a deck's page, which is an archive's or one that is
// about to be printed.
"use strict";
(() => {
  const { print, ...options } = JSON.parse(document.getElementById("deck").textContent);
  const slides = document.querySelector(".slides");

  // Slides stand in the middle unless their blocks have places of their own.
  const place = () => {
    for (const s of slides.querySelectorAll("section")) {
      if (s.classList.contains("top") || s.querySelector("section")) continue;
      const fixed = s.querySelector(".sl-block") || [...s.querySelectorAll("[style]")].some((e) => e.style.position === "absolute");
      if (!fixed) s.classList.add("center");
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
  const prepare = () => {
    place();
    if (print) Deck.paper(slides, options.pdfSeparateFragments);
    Deck.formulas(slides);
  };
  // A page of notes shows its slide above them, as large as the notes leave room for.
  const edge = 20;
  const picture = (notes) => {
    let page = notes.previousElementSibling;
    while (page && !page.classList.contains("pdf-page")) page = page.previousElementSibling;
    if (!page) return;
    const { offsetWidth: width, offsetHeight: height } = page;
    const frame = document.createElement("div");
    const copy = page.cloneNode(true);
    for (const e of copy.querySelectorAll("iframe, video, audio, a[href]")) e.localName === "a" ? e.removeAttribute("href") : e.remove();
    Object.assign(copy.style, { position: "absolute", top: 0, left: 0, width: `${width}px`, transformOrigin: "0 0", breakAfter: "auto" });
    Object.assign(frame.style, { position: "relative", overflow: "hidden", margin: `${edge}px ${edge}px 0`, outline: "1px solid #999", breakAfter: "avoid" });
    frame.append(copy);
    notes.before(frame); // beside them, since it looks as slides do
    for (const part of [0.5, 0.35, 0.2]) {
      Object.assign(frame.style, { width: `${width * part}px`, height: `${height * part}px` });
      copy.style.transform = `scale(${part})`;
      if (notes.offsetHeight + height * part + edge <= height) return;
    }
    frame.remove();
  };

  if (print) {
    Reveal.on("pdf-ready", async () => {
      for (const notes of slides.querySelectorAll(".speaker-notes-pdf")) picture(notes);
      await document.fonts.ready;
      await Promise.all([...document.images].map((i) => i.decode().catch(() => {})));
      document.documentElement.dataset.printable = "yes";
      window.catenaPageReady?.("");
    });
  }
  Reveal.initialize({ ...options, plugins: Deck.plugins(prepare) }).then(() => {
    window.getComputedStyle = computed;
    document.documentElement.dataset.ready = "yes";
  });
})();
