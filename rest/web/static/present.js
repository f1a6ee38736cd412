// The speaker's page: current slide, next slide, notes, clock and timer. Where the speaker
// is goes to windows of this browser by a channel and to the server for everybody else.
"use strict";
(() => {
  const body = document.body.dataset;
  const get = (id) => document.getElementById(id);
  const frame = get("slides");
  const upcoming = get("upcoming");
  const tell = (to, message) => to.contentWindow.postMessage(message, "*");
  const channel = new BroadcastChannel(`catena-deck-${body.id}`);
  let at = { h: 0, v: 0, f: -1, black: false };
  let shown = false; // the next slide's window is ready

  // Where to begin stands in the address, and where the speaker is: #/2/1.
  const place = () => {
    const [, h, v] = location.hash.match(/^#\/(\d+)(?:\/(\d+))?/) || [];
    return h === undefined ? null : { catena: "go", h: +h, v: +(v || 0), f: -1 };
  };
  let begin = place();
  window.addEventListener("hashchange", () => place() && tell(frame, place()));

  const publish = () => {
    channel.postMessage(at);
    fetch(`${body.path}/live`, {
      method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": body.csrf }, body: JSON.stringify(at), keepalive: true,
    }).catch(() => {}); // without the server the windows of this browser still follow
  };
  channel.addEventListener("message", (e) => e.data === "hello" && channel.postMessage(at));

  const peek = () => shown && tell(upcoming, { catena: "go", h: at.h, v: at.v, f: at.f, step: true });

  window.addEventListener("message", (e) => {
    const m = e.data;
    if (typeof m !== "object" || m === null) return;
    if (e.source === upcoming.contentWindow && m.catena === "ready") {
      shown = true;
      peek();
    }
    if (e.source !== frame.contentWindow) return;
    if (m.catena === "ready" && begin) {
      tell(frame, begin);
      tell(frame, { catena: "state" });
    }
    if (m.catena !== "state") return;
    if (begin) { // the slides say where they are before they are told
      begin = null;
      return;
    }
    at = { h: +m.h, v: +m.v, f: +m.f, black: at.black };
    get("number").textContent = `${+m.number} / ${+m.total}`;
    get("notes").textContent = String(m.notes);
    get("notes").scrollTop = 0;
    get("end").hidden = m.last !== true;
    upcoming.style.opacity = m.last === true ? ".25" : "";
    history.replaceState(null, "", `${location.pathname}${location.search}#/${at.h}${at.v ? `/${at.v}` : ""}`);
    get("back").href = `${body.path}#/${at.h}${at.v ? `/${at.v}` : ""}`;
    peek();
    publish();
  });

  for (const f of [frame, upcoming]) { // the slides may have come before this script
    f.addEventListener("load", () => tell(f, { catena: "hello" }));
    tell(f, { catena: "hello" });
  }

  for (const stage of document.querySelectorAll(".stage")) stage.style.setProperty("--ratio", body.width / body.height);
  const step = (name) => tell(frame, { catena: name });
  get("prev").addEventListener("click", () => step("prev"));
  get("next").addEventListener("click", () => step("next"));
  const black = () => {
    at.black = !at.black;
    get("black").setAttribute("aria-pressed", String(at.black));
    frame.style.opacity = at.black ? ".3" : "";
    publish();
  };
  get("black").addEventListener("click", black);
  get("audience").addEventListener("click", () => window.open(`${body.path}?follow`, `audience-${body.id}`, "popup,width=1024,height=720"));
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (["ArrowRight", "ArrowDown", "PageDown", "n"].includes(e.key)) step("next");
    else if (["ArrowLeft", "ArrowUp", "PageUp", "p"].includes(e.key)) step("prev");
    else if (e.key === " " && e.target.tagName !== "BUTTON") step("next");
    else if (e.key === "b" || e.key === ".") black();
    else return;
    e.preventDefault();
  });

  let started = Date.now();
  let before = 0; // what was counted before the last pause
  let running = true;
  const elapsed = () => before + (running ? Date.now() - started : 0);
  const two = (n) => String(n).padStart(2, "0");
  const tick = () => {
    const now = new Date();
    get("clock").textContent = `${two(now.getHours())}:${two(now.getMinutes())}`;
    const s = Math.floor(elapsed() / 1000);
    get("timer").textContent = `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  };
  get("start").addEventListener("click", () => {
    before = elapsed();
    started = Date.now();
    running = !running;
    get("start").textContent = running ? "Pause" : "Go on";
    tick();
  });
  get("reset").addEventListener("click", () => {
    before = 0;
    started = Date.now();
    tick();
  });
  setInterval(tick, 500);
  tick();

  let size = 1.25;
  const resize = (by) => {
    size = Math.min(3, Math.max(0.8, size + by));
    get("notes").style.setProperty("--notes", `${size}rem`);
  };
  get("smaller").addEventListener("click", () => resize(-0.15));
  get("larger").addEventListener("click", () => resize(0.15));
})();
