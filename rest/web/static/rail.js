// Draws the slides of the editor's list where the page around says, each as a deck of its own
// with one slide. Messages are taken from that page alone.
"use strict";
(() => {
  if (window.parent === window) return;
  const slots = new Map(); // key: its element and its deck
  let looks = { width: 960, height: 700, margin: 0, rtl: false };

  const element = (name, parent) => {
    const e = document.createElement("div");
    e.className = name;
    parent.append(e);
    return e;
  };
  const slot = (key) => {
    if (!slots.has(key)) slots.set(key, { box: element("slot", document.body), deck: null });
    return slots.get(key);
  };
  const shape = () => ({ width: Fill.whole(looks.width, 1), height: Fill.whole(looks.height, 1), margin: Number(looks.margin) || 0, rtl: looks.rtl === true });
  const end = (s) => {
    s.deck?.destroy();
    s.deck = null;
    s.box.replaceChildren();
  };

  const draw = async (s, html) => {
    end(s);
    const root = element("reveal", element("reveal-viewport", s.box));
    const slides = element("slides", root);
    Fill.put(slides, html);
    slides.querySelectorAll("[data-autoplay], [autoplay]").forEach((e) => ["data-autoplay", "autoplay"].forEach((n) => e.removeAttribute(n)));
    const deck = new Reveal(root, {
      ...shape(), embedded: true, controls: false, progress: false, keyboard: false, touch: false, hash: false, history: false, overview: false,
      help: false, fragments: false, transition: "none", backgroundTransition: "none", autoAnimate: false, autoPlayMedia: false, autoSlide: false,
      postMessage: false, postMessageEvents: false, respondToHashChanges: false, scrollActivationWidth: null, jumpToSlide: false, viewDistance: 1, minScale: 0.01,
      plugins: [window.RevealMarkdown, window.RevealHighlight].filter(Boolean),
    });
    s.deck = deck;
    slides.addEventListener("load", () => s.deck === deck && deck.layout(), true); // of a picture, whose size is known then
    await deck.initialize();
    if (s.deck !== deck) return;
    Fill.finish(slides);
    deck.layout();
  };

  // Slides come one after the other, so that the first are there soon.
  const waiting = new Map(); // key: HTML
  let busy = false;
  const drawAll = async () => {
    if (busy) return;
    busy = true;
    for (const [key, html] of waiting) {
      waiting.delete(key);
      await draw(slot(key), html).catch((e) => console.warn(e));
      window.parent.postMessage({ catena: "drawn", key }, "*");
    }
    busy = false;
  };

  const actions = {
    draw: (m) => {
      waiting.set(Number(m.key), String(m.html));
      drawAll();
    },
    drop: (m) => {
      const s = slots.get(m.key);
      waiting.delete(m.key);
      if (!s) return;
      end(s);
      s.box.remove();
      slots.delete(m.key);
    },
    place: (m) => { // of all slides there are
      const keys = new Set(m.boxes.map(([key]) => key));
      for (const key of slots.keys()) if (!keys.has(key)) actions.drop({ key });
      for (const [key, x, y, w, h] of m.boxes) {
        const { box, deck } = slot(key);
        const sized = box.style.width !== `${+w}px` || box.style.height !== `${+h}px`;
        Object.assign(box.style, { left: `${+x}px`, top: `${+y}px`, width: `${+w}px`, height: `${+h}px` });
        if (sized) deck?.layout();
      }
    },
    look: (m) => {
      looks = m.options;
      Fill.theme(looks);
      for (const { deck } of slots.values()) deck?.configure(shape());
    },
  };
  // The page around says hello when it listens, and again when this document has come: one answer is enough.
  new Promise((go) => (actions.hello = go)).then(() => window.parent.postMessage({ catena: "ready" }, "*"));
  window.addEventListener("message", (e) => {
    if (e.source !== window.parent || typeof e.data !== "object" || e.data === null) return;
    if (Object.hasOwn(actions, e.data.catena)) actions[e.data.catena](e.data);
  });
})();
