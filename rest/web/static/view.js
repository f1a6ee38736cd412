// Drives the slides of a deck's page: paging, the place in the address, and following a
// presenter in another window or on another machine.
"use strict";
(() => {
  const body = document.body.dataset;
  const frame = document.getElementById("slides");
  const number = document.getElementById("number");
  const prev = document.getElementById("prev");
  const next = document.getElementById("next");
  const follow = document.getElementById("follow");
  const alone = new URLSearchParams(location.search).has("follow");
  const tell = (message) => frame.contentWindow.postMessage(message, "*");

  // The place stands in the address as the slides' own window writes it: #/2/1/0.
  const place = () => {
    const [, h, v, f] = location.hash.match(/^#\/(\d+)(?:\/(\d+))?(?:\/(\d+))?$/) || [];
    return h === undefined ? null : { catena: "go", h: +h, v: +(v || 0), f: f === undefined ? -1 : +f };
  };

  window.addEventListener("message", (e) => {
    if (e.source !== frame.contentWindow || typeof e.data !== "object" || e.data === null) return;
    const m = e.data;
    if (m.catena === "ready") {
      const at = leader || place();
      if (at) tell({ ...at, catena: "go" });
    }
    if (m.catena === "found") document.getElementById("found").textContent = finding.value.trim() ? (m.count > 0 ? `${+m.index} / ${+m.count}` : "none") : "";
    if (m.catena === "state") {
      number.textContent = `${+m.number} / ${+m.total}`;
      prev.disabled = m.number <= 1 && m.f <= 0;
      next.disabled = m.last === true && m.f < 0;
      document.getElementById("progress").style.transform = `scaleX(${+m.total > 1 ? (m.number - 1) / (m.total - 1) : 1})`;
      const hash = `#/${+m.h}${m.v || m.f >= 0 ? `/${+m.v}` : ""}${m.f >= 0 ? `/${+m.f}` : ""}`;
      history.replaceState(null, "", location.pathname + location.search + hash);
      for (const page of ["fullscreen", "edit", "present"]) document.getElementById(page)?.setAttribute("href", `${body.path}/${page}${hash}`);
    }
  });
  window.addEventListener("hashchange", () => {
    const at = place();
    if (at) tell(at);
  });

  const stage = document.getElementById("stage");
  stage.style.setProperty("--ratio", body.width / body.height);
  // Where the window may take the whole screen it does; elsewhere the slides get a page.
  document.getElementById("fullscreen").addEventListener("click", (e) => {
    if (!stage.requestFullscreen || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    stage.requestFullscreen().then(() => frame.focus(), () => location.assign(e.target.closest("a").href));
  });
  document.getElementById("overview").addEventListener("click", () => {
    tell({ catena: "overview" });
    frame.focus();
  });

  // Return leads to the next slide that has the text, with Shift to the one before.
  const finding = document.getElementById("find-text");
  const find = (back) => tell({ catena: "find", text: finding.value, back });
  document.getElementById("find").addEventListener("submit", (e) => e.preventDefault());
  finding.addEventListener("keydown", (e) => {
    if (e.key === "Enter") find(e.shiftKey);
    else if (e.key === "Escape") {
      finding.value = "";
      find(false);
      frame.focus();
    }
  });
  finding.addEventListener("search", () => finding.value === "" && find(false)); // emptied

  prev.addEventListener("click", () => tell({ catena: "prev" }));
  next.addEventListener("click", () => tell({ catena: "next" }));
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    if (["ArrowRight", "ArrowDown", "PageDown", "n"].includes(e.key)) tell({ catena: "next" });
    else if (["ArrowLeft", "ArrowUp", "PageUp", "p"].includes(e.key)) tell({ catena: "prev" });
    else if (e.key === " " && e.target.tagName !== "BUTTON" && e.target.tagName !== "A") tell({ catena: "next" });
    else if (e.key === "o") tell({ catena: "overview" });
    else if (e.key === "/") finding.focus();
    else if (e.key === "f") document.getElementById("fullscreen").click();
    else return;
    e.preventDefault();
  });

  // Following: a window of the same browser speaks on a channel, other machines hear from
  // the server.
  let leader = null;
  const lead = (m) => {
    if (typeof m !== "object" || m === null || !Number.isInteger(m.h)) return;
    leader = m;
    if (alone || follow.checked) tell({ catena: "go", h: m.h, v: m.v, f: m.f });
    document.body.classList.toggle("black", m.black === true);
    frame.style.visibility = alone && m.black === true ? "hidden" : "";
  };
  const channel = new BroadcastChannel(`catena-deck-${body.id}`);
  channel.addEventListener("message", (e) => lead(e.data));
  let live = null;
  const listen = (on) => {
    live?.close();
    live = on ? new EventSource(`${body.path}/live`) : null;
    live?.addEventListener("place", (e) => lead(JSON.parse(e.data)));
    if (on && leader) lead(leader);
  };
  follow.addEventListener("change", () => listen(follow.checked));
  if (alone) {
    document.body.classList.add("alone");
    listen(true);
    channel.postMessage("hello");
  }
  const hello = () => tell({ catena: "hello" }); // the slides may have come before this script
  frame.addEventListener("load", () => {
    hello();
    frame.focus();
  });
  hello();
})();
