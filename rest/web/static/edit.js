// The editor of a deck: the list of slides, the source of one, how the deck looks and what is
// said about it, with a preview in the sandbox. Changes are kept in this browser until they
// are saved.
"use strict";
const Editor = (() => {
  const id = site.id;
  const draftKey = `catena-draft-${site.user}-${id}`;
  const fields = site.fields.split(" ");
  const looks = site.looks.split(" ");
  const all = [...fields, ...looks];
  const frame = byId("preview");
  const source = byId("source");
  const notes = byId("slide-notes");
  const recolour = Colour.over(byId("code"));

  let saved = null; // the deck as the server has it: data and etag
  let deck = { slides: [], after: "" };
  let values = {};
  let at = Number(location.hash.match(/^#\/(\d+)/)?.[1] || 0);
  let past = [];
  let future = [];
  let typing = false; // what is typed now was remembered when it began
  let ready = false;
  let saving = false;

  const html = () => Sections.join(deck);
  const changed = (names) => Object.fromEntries(names.filter((n) => values[n] !== saved.data[n]).map((n) => [n, values[n]]));
  const changes = () => {
    const out = { fields: changed(fields), looks: changed(looks) };
    if (html() !== saved.data.data) out.fields.data = html();
    return out;
  };
  const count = (c) => Object.keys(c.fields).length + Object.keys(c.looks).length;
  const dirty = () => saved !== null && count(changes()) > 0;

  const say = (text, bad = false) => {
    byId("state").textContent = text;
    byId("state").classList.toggle("bad", bad);
  };

  // Preview: one slide at a time, so that a large deck is as quick as a small one. Files of a
  // deck that is not public open with a key.
  let row = 0; // within a stack
  const withKey = (text) => (site.files ? text.replace(/(["'(=\s])(files\/\d+\/[\w.-]+)(?=["')\s>])/g, `$1$2?${site.files}`) : text);
  Strip.dress = withKey;
  const tell = (message) => frame.contentWindow.postMessage(message, "*");
  const preview = (also = null) => {
    const options = { ...Object.fromEntries(looks.map((n) => [n, values[n]])), width: values.width, height: values.height };
    Strip.look(options);
    if (!ready || !deck.slides[at]) return;
    const shown = also === null ? deck.slides[at].html : deck.slides[at].html + also;
    tell({ catena: "show", html: withKey(shown), h: 0, v: row, options });
    frame.parentElement.style.setProperty("--ratio", values.width / values.height);
  };
  window.addEventListener("message", (e) => {
    if (e.source !== frame.contentWindow || typeof e.data !== "object" || e.data === null) return;
    if (e.data.catena === "ready") {
      ready = true;
      preview();
    }
    if (e.data.catena === "state" && Number.isInteger(e.data.v)) row = e.data.v;
  });
  frame.addEventListener("load", () => tell({ catena: "hello" }));
  tell({ catena: "hello" }); // the slides may have come before this script
  let soon = 0;
  const later = (f, ms) => {
    clearTimeout(soon);
    soon = setTimeout(f, ms);
  };

  const keep = () => {
    byId("save").disabled = !dirty() || saving;
    byId("title").textContent = values.title;
    document.title = `${dirty() ? "• " : ""}Edit: ${values.title} · catena`;
    try {
      if (dirty()) {
        localStorage.setItem(draftKey, JSON.stringify({ etag: saved.etag, html: html(), values, at: Date.now() }));
        say("Not saved yet; kept in this browser");
      } else {
        localStorage.removeItem(draftKey);
        say("Saved");
      }
    } catch {
      say("Not saved yet, and too large to keep in this browser", true);
    }
  };

  const label = (slide) => {
    if (slide.named?.html !== slide.html) { // reading HTML takes a while, and decks may be large
      const { text, count: n } = Sections.title(slide.html);
      slide.named = { html: slide.html, text: n > 1 ? `${text} (${n})` : text };
    }
    return slide.named.text;
  };
  const grid = () => document.body.classList.contains("grid"); // the list fills the page
  const across = () => grid() || matchMedia("(max-width: 1000px)").matches; // the list lies on its side

  // Several slides are picked at once with Shift and Ctrl; the one shown is always among them.
  const picked = new Set();
  const picks = () => deck.slides.map((s, i) => i).filter((i) => i === at || picked.has(deck.slides[i]));
  const pick = (...indexes) => {
    for (const i of [at, ...indexes]) if (deck.slides[i]) picked.add(deck.slides[i]);
    choose(indexes.at(-1) ?? at, undefined, true);
    tellAloud(`${picks().length} slides selected`);
  };
  const pickTo = (to) => {
    const last = Math.max(0, Math.min(to, deck.slides.length - 1));
    const step = last < at ? -1 : 1;
    pick(...Array.from({ length: Math.abs(last - at) }, (_, n) => at + step * (n + 1)));
  };
  const pickOne = (i) => {
    if (i === at || !picked.delete(deck.slides[i])) return pick(i);
    choose(at, undefined, true);
    return undefined;
  };
  const entry = (slide, i) => {
    const text = label(slide);
    const li = make("li", { draggable: "true" },
      make("button", { "aria-current": i === at ? "true" : null, "aria-pressed": picked.size > 1 ? String(i === at || picked.has(slide)) : null, tabindex: i === at ? "0" : "-1", title: text,
        onclick: (e) => (e.shiftKey ? pickTo(i) : e.ctrlKey || e.metaKey ? pickOne(i) : choose(i)), ondblclick: () => overview(false) },
        make("span", { class: "label" }, text)));
    const below = (e) => (across() ? e.offsetX > li.offsetWidth / 2 : e.offsetY > li.offsetHeight / 2);
    li.addEventListener("dragstart", (e) => {
      e.dataTransfer.setData("text/plain", String(i));
      li.classList.add("lifted"); // what the pointer carries
      setTimeout(() => li.classList.replace("lifted", "dragged"));
    });
    li.addEventListener("dragend", () => li.classList.remove("dragged"));
    li.addEventListener("dragover", (e) => {
      e.preventDefault();
      li.classList.add("over");
      li.classList.toggle("below", below(e));
    });
    li.addEventListener("dragleave", () => li.classList.remove("over"));
    li.addEventListener("drop", (e) => {
      e.preventDefault();
      const from = Number(e.dataTransfer.getData("text/plain"));
      const to = i + (below(e) ? 1 : 0);
      if (!Number.isInteger(from) || !deck.slides[from]) return;
      if (picks().length > 1 && picks().includes(from)) gather(to);
      else move(from, from < to ? to - 1 : to);
      list();
    });
    return li;
  };
  const list = () => {
    const focused = document.activeElement?.closest?.("#slide-list");
    Strip.show(deck.slides, deck.slides.map(entry));
    const button = byId("slide-list").children[at]?.firstChild;
    button?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focused) button?.focus();
    byId("up").disabled = at === 0;
    byId("down").disabled = at >= deck.slides.length - 1;
    byId("delete").disabled = deck.slides.length < 2;
    const hash = `#/${at}`;
    for (const [name, page] of [["present", "/present"], ["view", ""]]) byId(name).href = site.path + page + hash;
    history.replaceState(null, "", location.pathname + location.search + hash);
    steps();
  };
  const steps = () => {
    byId("undo").disabled = past.length === 0;
    byId("redo").disabled = future.length === 0;
  };
  const relabel = () => {
    const button = byId("slide-list").children[at]?.firstChild;
    if (button) {
      button.title = button.firstChild.textContent = label(deck.slides[at]);
      Strip.draw(deck.slides[at]);
    }
    steps();
  };

  const edit = () => {
    const slide = deck.slides[at];
    const md = slide && byId("mode").value === "markdown" ? Sections.written(slide.html) : null;
    source.value = md ? md.text.replace(/^\n/, "") : slide ? slide.html : "";
    source.scrollTop = 0;
    byId("which").textContent = String(at + 1);
    const said = slide ? Sections.notes(slide.html) : "";
    notes.disabled = said === null;
    notes.value = said ?? "";
    notes.placeholder = said === null ? "This is a stack of slides: write notes in its source" : "Visible only to you while you present";
    recolour(byId("mode").value);
    typing = false;
  };
  const choose = (i, mode, more) => {
    if (!more) picked.clear();
    at = Math.max(0, Math.min(i, deck.slides.length - 1));
    row = 0;
    byId("mode").value = mode || (deck.slides[at] && Sections.written(deck.slides[at].html) ? "markdown" : "html");
    list();
    edit();
    preview();
  };

  const now = () => ({ slides: deck.slides.map((s) => ({ ...s })), after: deck.after, at });
  const remember = () => {
    past = [...past.slice(-99), now()];
    future = [];
  };
  const tellAloud = (text) => (byId("said").textContent = text);
  const back = (from, to) => {
    const state = from.pop();
    if (!state) return;
    to.push(now());
    deck = { slides: state.slides, after: state.after };
    choose(state.at);
    keep();
    tellAloud(from === past ? "Undone" : "Redone");
  };
  const change = (f, what) => {
    remember();
    f();
    choose(at);
    keep();
    tellAloud(`${what}: slide ${at + 1} of ${deck.slides.length}`);
  };
  const move = (from, to) => {
    if (to < 0 || to >= deck.slides.length || to === from) return;
    change(() => {
      const befores = deck.slides.map((s) => s.before); // white space stays where it is
      deck.slides.splice(to, 0, ...deck.slides.splice(from, 1));
      deck.slides.forEach((s, i) => (s.before = befores[i]));
      at = to;
    }, "Moved");
  };
  // gather puts the picked slides together before what is at a place now.
  const gather = (to) => change(() => {
    const befores = deck.slides.map((s) => s.before);
    const taken = picks().map((i) => deck.slides[i]);
    const first = deck.slides.slice(0, to).filter((s) => !taken.includes(s)).length;
    const rest = deck.slides.filter((s) => !taken.includes(s));
    deck.slides = [...rest.slice(0, first), ...taken, ...rest.slice(first)];
    deck.slides.forEach((s, i) => (s.before = befores[i]));
    at = first;
  }, `${picks().length} moved`);
  const insert = (...texts) => change(() => {
    const empty = deck.slides.length === 0;
    deck.slides.splice(empty ? 0 : at + 1, 0, ...texts.map((html, i) => ({ before: empty && i === 0 ? "" : "\n", html })));
    at += empty ? texts.length - 1 : texts.length;
  }, "Inserted");
  const remove = () => deck.slides.length > picks().length && change(() => {
    const gone = picks();
    const { before } = deck.slides[0];
    deck.slides = deck.slides.filter((s, i) => !gone.includes(i));
    if (gone[0] === 0) deck.slides[0].before = before;
    at = Math.min(gone[0], deck.slides.length - 1);
  }, "Deleted; now");

  byId("add").addEventListener("click", () => {
    const md = deck.slides[at] && Sections.written(deck.slides[at].html);
    insert(md ? '<section data-markdown>\n<script type="text/template">\n## New slide\n</script>\n</section>' : "<section>\n  <h2>New slide</h2>\n</section>");
    panes.open("source");
    source.focus();
  });
  const duplicate = () => {
    const texts = picks().map((i) => deck.slides[i].html);
    at = picks().at(-1);
    insert(...texts);
  };
  byId("duplicate").addEventListener("click", duplicate);
  byId("up").addEventListener("click", () => move(at, at - 1));
  byId("down").addEventListener("click", () => move(at, at + 1));
  byId("delete").addEventListener("click", remove);
  byId("undo").addEventListener("click", () => back(past, future));
  byId("redo").addEventListener("click", () => back(future, past));
  byId("slide-list").addEventListener("keydown", (e) => {
    const line = grid() ? columns() : 1;
    const to = { ArrowUp: at - line, ArrowDown: at + line, ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: deck.slides.length - 1 }[e.key];
    const command = e.ctrlKey || e.metaKey;
    if (command && e.key === "d") duplicate();
    else if (command && e.key === "a") pick(...deck.slides.keys());
    else if (e.altKey || command) return;
    else if (to !== undefined) (e.shiftKey ? pickTo : choose)(to);
    else if (e.key === "Escape" && picked.size) choose(at);
    else if (e.key === "Escape" || (e.key === "Enter" && grid())) overview(false);
    else if (e.key === "Delete" || e.key === "Backspace") remove();
    else if (e.key === "Enter" && e.target.closest("[aria-current]")) source.focus();
    else return;
    e.preventDefault();
  });
  // All slides at a glance, to put them in order.
  const columns = () => {
    const all = [...byId("slide-list").children];
    return Math.max(1, all.filter((li) => li.offsetTop === all[0].offsetTop).length);
  };
  const overview = (on) => {
    if (on === grid()) return;
    document.body.classList.toggle("grid", on);
    byId("overview").setAttribute("aria-pressed", String(on));
    list();
    preview();
    byId("slide-list").children[at]?.firstChild.focus();
  };
  byId("overview").addEventListener("click", () => overview(!grid()));
  // Slides go from deck to deck by the clipboard.
  const inList = () => document.activeElement?.closest?.("#slide-list") && deck.slides[at] && String(getSelection()) === "";
  for (const name of ["copy", "cut"]) {
    document.addEventListener(name, (e) => {
      if (!inList()) return;
      e.preventDefault();
      e.clipboardData.setData("text/plain", picks().map((i) => deck.slides[i].html).join("\n"));
      tellAloud(picks().length > 1 ? `${picks().length} slides copied` : "Slide copied");
      if (name === "cut") remove();
    });
  }
  document.addEventListener("paste", (e) => {
    const { slides } = Sections.split(e.clipboardData.getData("text/plain"));
    if (!inList() || !slides.length) return;
    e.preventDefault();
    insert(...slides.map((s) => s.html));
  });

  const typed = (write) => {
    if (!typing) remember();
    typing = true;
    write(deck.slides[at]);
    later(() => {
      relabel();
      preview();
      keep();
    }, 250);
  };
  source.addEventListener("input", () => {
    recolour(byId("mode").value);
    typed((slide) => {
      if (!slide) deck.slides.push({ before: "", html: source.value });
      else if (byId("mode").value === "markdown") slide.html = Sections.rewritten(slide.html, `\n${source.value}`);
      else slide.html = source.value;
      if (slide) notes.value = Sections.notes(slide.html) ?? "";
    });
  });
  notes.addEventListener("input", () => typed((slide) => {
    if (!slide) return;
    slide.html = Sections.noted(slide.html, notes.value);
    const md = byId("mode").value === "markdown" ? Sections.written(slide.html) : null;
    source.value = md ? md.text.replace(/^\n/, "") : slide.html;
    recolour(byId("mode").value);
  }));
  source.addEventListener("blur", () => {
    // What was typed may be several slides by now, or none.
    const again = Sections.split(html());
    if (again.slides.length !== deck.slides.length && again.slides.length > 0) {
      deck = again;
      choose(at);
    }
  });
  byId("mode").addEventListener("change", () => {
    const slide = deck.slides[at];
    if (byId("mode").value === "markdown" && slide && !Sections.written(slide.html)) {
      remember();
      slide.html = Sections.toMarkdown(slide.html);
      keep();
    }
    choose(at, byId("mode").value);
  });

  // put writes text where the cursor is, as typing does.
  const put = (text) => {
    panes.open("source");
    source.focus();
    if (!document.execCommand("insertText", false, text)) {
      source.setRangeText(text, source.selectionStart, source.selectionEnd, "end");
      source.dispatchEvent(new Event("input"));
    }
  };

  const panes = {
    open: (name) => {
      for (const tab of document.querySelectorAll("[role=tab]")) {
        const on = tab.id === `tab-${name}`;
        tab.setAttribute("aria-selected", String(on));
        tab.tabIndex = on ? 0 : -1;
        byId(tab.getAttribute("aria-controls")).hidden = !on;
      }
      for (const tool of ["insert", "picture", "mode"]) byId(tool).hidden = name !== "source";
    },
  };
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => panes.open(tab.id.slice(4)));
    tab.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!step) return;
      const to = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      to.click();
      to.focus();
    });
  }

  // The forms of looks and details change values as they are touched.
  const forms = [byId("design-form"), byId("details-form")];
  const field = (name) => forms.map((f) => f.elements[name]).find(Boolean);
  const fill = () => {
    for (const name of all) {
      const e = field(name);
      const v = values[name];
      if (!e) continue; // only programs write it
      if (e.type === "checkbox") {
        e.checked = v === true;
        continue;
      }
      if (e.tagName === "SELECT" && ![...e.options].some((o) => o.value === String(v))) e.add(new Option(String(v)));
      e.value = String(v ?? "");
    }
    const shape = byId("shape");
    shape.value = [...shape.options].some((o) => o.value === `${values.width}x${values.height}`) ? `${values.width}x${values.height}` : "";
  };
  for (const form of forms) {
    form.addEventListener("submit", (e) => e.preventDefault());
    form.addEventListener("input", (e) => {
      const { name } = e.target;
      if (e.target.id === "shape" && e.target.value) {
        [values.width, values.height] = e.target.value.split("x").map(Number);
      } else if (!all.includes(name) || !e.target.checkValidity()) {
        return;
      } else if (e.target.type === "checkbox") {
        values[name] = e.target.checked;
      } else {
        values[name] = ["width", "height", "margin"].includes(name) ? Number(e.target.value) : e.target.value;
      }
      if (["width", "height"].includes(name) || e.target.id === "shape") fill();
      preview();
      keep();
      if (/transition/.test(name)) attempt();
    });
  }
  const attempt = () => {
    preview((deck.slides[at + 1] || deck.slides[0]).html);
    setTimeout(() => tell({ catena: "next" }), 150);
    later(preview, 1800);
  };
  byId("try").addEventListener("click", attempt);

  document.addEventListener("keydown", (e) => {
    const inText = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    const command = e.ctrlKey || e.metaKey;
    if (command && e.key === "s") Saving.save(e);
    else if (command && !inText && e.key.toLowerCase() === "z") back(...(e.shiftKey ? [future, past] : [past, future]));
    else if (e.altKey && e.key === "ArrowUp") move(at, at - 1);
    else if (e.altKey && e.key === "ArrowDown") move(at, at + 1);
    else if (e.altKey && e.key === "PageUp") choose(at - 1);
    else if (e.altKey && e.key === "PageDown") choose(at + 1);
    else if (command && e.key === "Enter") byId(e.shiftKey ? "present" : "add").click();
    else return;
    e.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    const [, n] = location.hash.match(/^#\/(\d+)/) || [];
    if (n !== undefined && +n !== at) choose(+n);
  });
  window.addEventListener("beforeunload", (e) => {
    if (!dirty()) return;
    keep(); // also what was typed a moment ago
    e.preventDefault();
  });

  // What saving needs of the editor.
  const take = (got) => {
    saved = got;
    values = Object.fromEntries(all.map((n) => [n, saved.data[n]]));
    deck = Sections.split(saved.data.data || "");
    past = [];
    future = [];
    fill();
    choose(at);
    keep();
  };
  const merge = (got, sent) => {
    const edited = html() !== (sent.fields.data ?? saved.data.data); // typed while it was under way
    const same = sent.fields.data === undefined || got.data.data === sent.fields.data;
    for (const n of all) if (values[n] === saved.data[n] || values[n] === sent.fields[n] || values[n] === sent.looks[n]) values[n] = got.data[n];
    saved = got;
    fill();
    if (!same && !edited) {
      deck = Sections.split(saved.data.data);
      choose(at);
    }
  };
  const restore = (kept) => {
    deck = Sections.split(kept.html);
    for (const n of all) if (n in kept.values) values[n] = kept.values[n];
    fill();
    choose(0);
    keep();
  };
  return {
    put, insert, say, keep, take, merge, restore, changes, dirty, html, draftKey, all,
    markdown: () => byId("mode").value === "markdown",
    value: (n) => values[n],
    get saved() {
      return saved;
    },
    set saving(on) {
      saving = on;
    },
    get saving() {
      return saving;
    },
  };
})();
