// Runs inside the sandboxed document of a deck: starts the presentation framework and talks
// to the page around it, if there is one. Messages are taken from that page alone.
"use strict";
(() => {
  const conf = JSON.parse(document.body.dataset.config);
  const { frame: _, ...chosen } = conf; // what the deck's fields set
  const framed = conf.frame !== "" && window.parent !== window;
  const still = conf.frame === "still";
  const live = conf.frame === "live";
  const printing = /print-pdf/i.test(location.search);
  const slides = document.querySelector(".slides");

  // An error in one deck's Markdown or code must not leave an empty window.
  const plugins = Deck.plugins(() => printing && Deck.paper(slides, false));
  const options = {
    ...chosen, ...(still ? { transition: "none", backgroundTransition: "none" } : {}),
    controls: !framed, controlsTutorial: false, progress: !framed, keyboard: !still, touch: !still, hash: !framed,
    respondToHashChanges: !framed, embedded: false, help: true, overview: !still, autoSlide: still || live ? false : 0,
    postMessage: false, postMessageEvents: false, showNotes: false, pdfSeparateFragments: false, previewLinks: false,
    autoAnimate: !still, plugins,
  };
  if (framed) options.scrollActivationWidth = null;
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (quiet) {
    Object.assign(options, { transition: "none", backgroundTransition: "none", autoAnimate: false });
  }

  const tell = (message) => framed && window.parent.postMessage(message, "*");

  const notesOf = (slide) => {
    if (!slide) return "";
    const own = [...slide.querySelectorAll("aside.notes")].filter((n) => n.closest("section") === slide);
    const parts = own.map((n) => n.innerText || n.textContent);
    if (slide.dataset.notes) parts.unshift(slide.dataset.notes);
    return parts.join("\n\n").trim();
  };

  const state = () => {
    const at = Reveal.getIndices();
    const slide = Reveal.getCurrentSlide();
    tell({
      catena: "state", h: at.h, v: at.v, f: at.f === undefined ? -1 : at.f, number: Reveal.getSlidePastCount() + 1,
      total: Reveal.getTotalSlides(), notes: notesOf(slide), last: Reveal.isLastSlide(), paused: Reveal.isPaused(),
      heading: (slide?.querySelector("h1,h2,h3,h4")?.textContent || "").trim().slice(0, 200),
    });
  };

  const { whole } = Fill;

  // What the page around may ask for.
  const actions = {
    go: (m) => {
      Reveal.slide(whole(m.h, 0), whole(m.v, 0), whole(m.f, -1));
      if (m.step) Reveal.next();
      if (still) state();
    },
    next: () => Reveal.next(),
    prev: () => Reveal.prev(),
    pause: () => Reveal.togglePause(),
    overview: () => Reveal.toggleOverview(),
    state: () => state(),
    find: (m) => find(String(m.text), m.back === true),
    show: (m) => {
      if (!live) return;
      wanted = m;
      if (!showing) showing = showLatest();
    },
  };

  // find goes to the next slide that has a text, and marks it there. Words of slides are many and
  // short: all are looked through every time.
  const marks = window.CSS?.highlights && new Highlight();
  if (marks) CSS.highlights.set("found", marks);
  const find = (text, back) => {
    const wanted = text.trim().toLowerCase();
    marks?.clear();
    const hits = [];
    for (const slide of wanted ? Reveal.getSlides() : []) {
      const walker = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT, (n) => (n.parentElement.closest("aside.notes, script, style, annotation") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
      let hit = false;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const low = node.data.toLowerCase();
        for (let i = low.indexOf(wanted); i >= 0; i = low.indexOf(wanted, i + wanted.length)) {
          hit = true;
          const range = new Range();
          range.setStart(node, i);
          range.setEnd(node, Math.min(node.length, i + wanted.length));
          marks?.add(range);
        }
      }
      if (hit) hits.push(Reveal.getIndices(slide));
    }
    const at = Reveal.getIndices();
    const order = (a) => a.h * 1e4 + a.v;
    const next = back ? hits.findLast((i) => order(i) < order(at)) ?? hits.at(-1) : hits.find((i) => order(i) > order(at)) ?? hits[0];
    if (next) Reveal.slide(next.h, next.v);
    tell({ catena: "found", count: hits.length, index: next ? hits.indexOf(next) + 1 : 0 });
  };

  // show puts HTML being edited into the slides. The server has not cleaned it yet: what
  // it could do is bounded by the sandbox and the policy of this document, as for any deck.
  let wanted = null;
  let showing = null;
  const showLatest = async () => {
    while (wanted) {
      const m = wanted;
      wanted = null;
      await show(m).catch((e) => console.warn(e));
    }
    showing = null;
  };
  // look takes over what the editor has chosen so far.
  const motions = ["slide", "fade", "none", "convex", "concave", "zoom"];
  const look = (o) => {
    Fill.theme(o);
    const motion = (wanted) => (motions.includes(wanted) && !quiet ? wanted : "none");
    Reveal.configure({
      width: whole(o.width, 1), height: whole(o.height, 1), margin: Number(o.margin) || 0, rtl: o.rtl === true,
      transition: motion(o.transition), backgroundTransition: motion(o.background_transition),
    });
  };
  const show = async (m) => {
    Fill.put(slides, m.html);
    look(m.options || {});
    const markdown = Reveal.getPlugin("markdown");
    if (markdown?.processSlides) {
      await markdown.processSlides(document.querySelector(".reveal"));
      markdown.convertSlides();
    }
    const highlight = Reveal.getPlugin("highlight");
    if (highlight) {
      for (const block of slides.querySelectorAll("pre code")) {
        if (block.hasAttribute("data-trim")) block.textContent = Fill.trimmed(block.textContent);
        highlight.highlightBlock(block);
      }
    }
    Fill.finish(slides);
    Reveal.sync();
    Reveal.slide(whole(m.h, 0), whole(m.v, 0), m.f === undefined ? undefined : whole(m.f, -1));
    Reveal.layout();
    state();
  };

  // The page around says hello when it listens, which may be before the slides are there or after: they answer once.
  const greeted = new Promise((go) => (actions.hello = go));

  if (framed) {
    window.addEventListener("message", (e) => {
      if (e.source !== window.parent || typeof e.data !== "object" || e.data === null) return;
      if (Object.hasOwn(actions, e.data.catena)) actions[e.data.catena](e.data);
    });
  }

  slides.addEventListener("load", () => Reveal.isReady() && Reveal.layout(), true); // of a picture, whose size is known then
  if (!slides.querySelector("section")) slides.append(document.createElement("section"));
  Fill.aim(slides);
  Reveal.initialize(options).then(() => {
    Fill.finish(slides);
    Reveal.layout();
    for (const name of ["slidechanged", "fragmentshown", "fragmenthidden", "paused", "resumed"]) Reveal.on(name, state);
    document.documentElement.dataset.ready = printing ? "printing" : "true";
    if (printing && !framed) document.fonts.ready.then(() => setTimeout(() => window.print(), 300)); // the pages are laid out by then
    return greeted;
  }).then(() => {
    tell({ catena: "ready" });
    state();
  });
})();
