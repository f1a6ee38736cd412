// The list of slides in the editor: its entries are buttons, and behind them lies a sandboxed
// document that draws what they stand for. What is far from sight is not drawn.
"use strict";
const Strip = (() => {
  const most = 80; // drawn at a time
  const frame = byId("rail");
  const strip = byId("strip");
  const list = byId("slide-list");
  const tell = (message) => frame.contentWindow.postMessage(message, "*");
  const drawn = new Map(); // key of a slide: the HTML it was drawn with, the latest last
  const near = new Set();
  let ready = false;
  let slides = [];
  let looks = null;
  let dress = (html) => html;
  let last = 0;

  const keyOf = (slide) => (slide.key ??= ++last);
  const entryOf = (key) => list.querySelector(`[data-key="${key}"]`);

  const draw = (slide) => {
    const key = keyOf(slide);
    if (!ready || drawn.get(key) === slide.html) return;
    drawn.delete(key);
    drawn.set(key, slide.html);
    tell({ catena: "draw", key, html: dress(slide.html) });
    for (const old of drawn.keys()) {
      if (drawn.size <= most) break;
      if (!near.has(old)) drop(old);
    }
  };
  const drop = (key) => {
    drawn.delete(key);
    tell({ catena: "drop", key });
    entryOf(key)?.classList.remove("drawn");
  };

  const place = () => {
    if (!ready) return;
    const origin = strip.getBoundingClientRect();
    const [left, top] = [origin.left - strip.scrollLeft, origin.top - strip.scrollTop];
    const boxes = [...list.children].map((li) => {
      const r = li.querySelector("button").getBoundingClientRect();
      return [Number(li.dataset.key), r.left - left, r.top - top, r.width, r.height];
    });
    frame.style.width = `${list.scrollWidth}px`;
    frame.style.height = `${list.scrollHeight}px`;
    tell({ catena: "place", boxes });
  };

  const eye = new IntersectionObserver((entries) => {
    for (const e of entries) {
      const key = Number(e.target.dataset.key);
      if (!e.isIntersecting) near.delete(key);
      else {
        near.add(key);
        const slide = slides.find((s) => s.key === key);
        if (slide) draw(slide);
      }
    }
  }, { root: strip, rootMargin: "60% 60%" });
  new ResizeObserver(place).observe(strip);

  // show puts other entries into the list, one for each slide.
  const show = (of, entries) => {
    slides = of;
    eye.disconnect();
    near.clear();
    list.replaceChildren(...entries);
    entries.forEach((li, i) => {
      const key = keyOf(of[i]);
      li.dataset.key = key;
      li.classList.toggle("drawn", drawn.has(key));
      eye.observe(li);
    });
    const keys = new Set(of.map(keyOf));
    for (const key of drawn.keys()) if (!keys.has(key)) drawn.delete(key);
    place();
  };

  // look takes what the whole deck looks like.
  const look = (options) => {
    const text = JSON.stringify(options);
    if (text === looks) return;
    looks = text;
    strip.style.setProperty("--ratio", options.width / options.height);
    if (!ready) return;
    tell({ catena: "look", options });
    place();
  };

  window.addEventListener("message", (e) => {
    if (e.source !== frame.contentWindow || typeof e.data !== "object" || e.data === null) return;
    if (e.data.catena === "drawn") entryOf(Number(e.data.key))?.classList.add("drawn");
    if (e.data.catena !== "ready") return;
    ready = true;
    drawn.clear();
    if (looks) tell({ catena: "look", options: JSON.parse(looks) });
    place();
    slides.filter((s) => near.has(s.key)).forEach(draw);
  });
  frame.addEventListener("load", () => tell({ catena: "hello" }));
  tell({ catena: "hello" }); // the frame may have come before this script

  return {
    show, look, draw,
    set dress(f) {
      dress = f;
    },
  };
})();
