// The editor of a deck: the list of slides, the source of one, and how it looks, in the
// sandbox. Changes are kept in this browser until they are saved.
"use strict";
(() => {
  const id = site.id;
  const draftKey = `catena-draft-${site.user}-${id}`;
  const fields = ["title", "description", "width", "height", "visibility"];
  const frame = byId("preview");
  const source = byId("source");

  let saved = null; // the deck as the server has it: data and etag
  let deck = { slides: [], after: "" };
  let values = {};
  let at = 0;
  let undo = [];
  let ready = false;
  let saving = false;

  const html = () => Sections.join(deck);
  const changes = () => {
    const out = {};
    for (const f of fields) if (values[f] !== saved.data[f]) out[f] = values[f];
    if (html() !== saved.data.data) out.data = html();
    return out;
  };
  const dirty = () => saved !== null && Object.keys(changes()).length > 0;

  const say = (text, bad = false) => {
    byId("state").textContent = text;
    byId("state").classList.toggle("bad", bad);
  };

  // Preview: one slide at a time, so that a large deck is as quick as a small one.
  let row = 0; // within a stack
  const preview = () => {
    if (!ready || !deck.slides[at]) return;
    frame.contentWindow.postMessage({ catena: "show", html: deck.slides[at].html, h: 0, v: row, options: { width: values.width, height: values.height } }, "*");
  };
  window.addEventListener("message", (e) => {
    if (e.source !== frame.contentWindow || typeof e.data !== "object" || e.data === null) return;
    if (e.data.catena === "ready") {
      ready = true;
      preview();
    }
    if (e.data.catena === "state" && Number.isInteger(e.data.v)) row = e.data.v;
  });
  let soon = 0;
  const later = (f, ms) => {
    clearTimeout(soon);
    soon = setTimeout(f, ms);
  };

  const keep = () => {
    byId("save").disabled = !dirty() || saving;
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

  const entry = (slide, i) => {
    const { text, count } = Sections.title(slide.html);
    const li = make("li", { draggable: "true" }, make("button", { "aria-current": i === at ? "true" : null, onclick: () => choose(i) }, count > 1 ? `${text} (${count})` : text));
    li.addEventListener("dragstart", (e) => {
      e.dataTransfer.setData("text/plain", String(i));
      li.classList.add("dragged");
    });
    li.addEventListener("dragend", () => li.classList.remove("dragged"));
    li.addEventListener("dragover", (e) => {
      e.preventDefault();
      li.classList.add("over");
    });
    li.addEventListener("dragleave", () => li.classList.remove("over"));
    li.addEventListener("drop", (e) => {
      e.preventDefault();
      const from = Number(e.dataTransfer.getData("text/plain"));
      if (Number.isInteger(from) && deck.slides[from] && from !== i) move(from, from < i ? i - 1 : i);
      else list();
    });
    return li;
  };
  const list = () => {
    const focused = document.activeElement?.closest?.("#slide-list") !== null && document.activeElement !== document.body;
    byId("slide-list").replaceChildren(...deck.slides.map(entry));
    const button = byId("slide-list").children[at]?.firstChild;
    button?.scrollIntoView({ block: "nearest" });
    if (focused) button?.focus();
    byId("up").disabled = at === 0;
    byId("down").disabled = at >= deck.slides.length - 1;
    byId("delete").disabled = deck.slides.length < 2;
    byId("undo").disabled = undo.length === 0;
  };
  const relabel = () => {
    const li = byId("slide-list").children[at];
    if (!li) return;
    const { text, count } = Sections.title(deck.slides[at].html);
    li.firstChild.textContent = count > 1 ? `${text} (${count})` : text;
  };

  const edit = () => {
    const slide = deck.slides[at];
    const md = slide && byId("mode").value === "markdown" ? Sections.written(slide.html) : null;
    source.value = md ? md.text.replace(/^\n/, "") : slide ? slide.html : "";
    byId("which").textContent = String(at + 1);
  };
  const choose = (i, mode) => {
    at = Math.max(0, Math.min(i, deck.slides.length - 1));
    row = 0;
    byId("mode").value = mode || (deck.slides[at] && Sections.written(deck.slides[at].html) ? "markdown" : "html");
    list();
    edit();
    preview();
  };

  const remember = () => {
    undo.push({ slides: deck.slides.map((s) => ({ ...s })), after: deck.after, at });
    undo = undo.slice(-50);
  };
  const change = (f) => {
    remember();
    f();
    choose(at);
    keep();
  };
  const move = (from, to) => {
    if (to < 0 || to >= deck.slides.length) return;
    change(() => {
      const befores = deck.slides.map((s) => s.before); // white space stays where it is
      deck.slides.splice(to, 0, ...deck.slides.splice(from, 1));
      deck.slides.forEach((s, i) => (s.before = befores[i]));
      at = to;
    });
  };
  const insert = (text) => change(() => {
    const empty = deck.slides.length === 0;
    deck.slides.splice(empty ? 0 : at + 1, 0, { before: empty ? "" : "\n", html: text });
    at = empty ? 0 : at + 1;
  });

  byId("add").addEventListener("click", () => {
    const md = deck.slides[at] && Sections.written(deck.slides[at].html);
    insert(md ? '<section data-markdown>\n<script type="text/template">\n## New slide\n</script>\n</section>' : "<section>\n  <h2>New slide</h2>\n</section>");
    source.focus();
  });
  byId("duplicate").addEventListener("click", () => insert(deck.slides[at].html));
  byId("up").addEventListener("click", () => move(at, at - 1));
  byId("down").addEventListener("click", () => move(at, at + 1));
  byId("delete").addEventListener("click", () => change(() => {
    const [gone] = deck.slides.splice(at, 1);
    if (deck.slides[at] && at === 0) deck.slides[0].before = gone.before;
    at = Math.min(at, deck.slides.length - 1);
  }));
  byId("undo").addEventListener("click", () => {
    const old = undo.pop();
    if (!old) return;
    deck = { slides: old.slides, after: old.after };
    choose(old.at);
    keep();
  });

  source.addEventListener("input", () => {
    const slide = deck.slides[at];
    if (!slide) {
      deck.slides.push({ before: "", html: source.value });
    } else if (byId("mode").value === "markdown") {
      slide.html = Sections.rewritten(slide.html, `\n${source.value}`);
    } else {
      slide.html = source.value;
    }
    later(() => {
      relabel();
      preview();
      keep();
    }, 250);
  });
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

  byId("settings").addEventListener("click", () => {
    const form = byId("settings-dialog").querySelector("form");
    for (const f of fields) form.elements[f].value = values[f] ?? "";
    byId("settings-dialog").showModal();
  });
  byId("settings-dialog").addEventListener("close", () => {
    if (byId("settings-dialog").returnValue !== "ok") return;
    const f = byId("settings-dialog").querySelector("form").elements;
    values = { title: f.title.value, description: f.description.value, width: Number(f.width.value), height: Number(f.height.value), visibility: f.visibility.value };
    byId("title").textContent = values.title;
    preview();
    keep();
  });

  const ask = (dialog) => new Promise((answer) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => answer(dialog.returnValue), { once: true });
    dialog.showModal();
  });

  const take = (got) => {
    saved = { data: got.answer.data, etag: got.etag };
    values = Object.fromEntries(fields.map((f) => [f, saved.data[f]]));
    deck = Sections.split(saved.data.data || "");
    byId("title").textContent = values.title;
  };
  const load = () => call("GET", `/v1/decks/${id}`, undefined, { "Deck-Revision": "B" });

  const put = async (force) => {
    const sent = changes();
    const got = await call("PATCH", `/v1/decks/${id}`, sent, { "Deck-Revision": "B", ...(force ? {} : { "If-Match": saved.etag }) });
    const now = html();
    const same = sent.data === undefined || got.answer.data.data === sent.data;
    const edited = now !== (sent.data ?? saved.data.data); // typed while it was under way
    for (const f of fields) if (values[f] === saved.data[f]) values[f] = got.answer.data[f]; // not ours to keep
    saved = { data: got.answer.data, etag: got.etag };
    byId("title").textContent = values.title;
    if (!same && !edited) {
      deck = Sections.split(saved.data.data);
      choose(at);
    }
    const removed = got.answer.meta?.sanitized || [];
    if (removed.length) complain(new Error(`What could act was taken out: ${removed.join(", ")}.`));
  };

  const conflict = async () => {
    const theirs = await load();
    byId("conflict-when").textContent = new Date(theirs.answer.data.updated_at).toLocaleString();
    switch (await ask(byId("conflict-dialog"))) {
      case "mine":
        return put(true);
      case "theirs":
        take(theirs);
        choose(at);
    }
    return undefined;
  };

  const save = tried(async () => {
    if (!dirty() || saving) return;
    saving = true;
    byId("save").disabled = true;
    say("Saving…");
    try {
      await put(false).catch((e) => {
        if (e instanceof Refused && e.status === 412) return conflict();
        throw e;
      });
    } finally {
      saving = false;
      keep();
    }
  });
  byId("save").addEventListener("click", save);
  document.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && e.key === "s") save(e);
    else if (e.altKey && e.key === "ArrowUp") move(at, at - 1);
    else if (e.altKey && e.key === "ArrowDown") move(at, at + 1);
    else return;
    e.preventDefault();
  });
  window.addEventListener("beforeunload", (e) => {
    if (!dirty()) return;
    keep(); // also what was typed a moment ago
    e.preventDefault();
  });

  const draft = async () => {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(draftKey));
    } catch {
      return;
    }
    if (!kept || typeof kept.html !== "string" || (kept.html === html() && fields.every((f) => kept.values?.[f] === values[f]))) return;
    byId("draft-when").textContent = new Date(kept.at).toLocaleString();
    byId("draft-stale").hidden = kept.etag === saved.etag;
    if (await ask(byId("draft-dialog")) === "take") {
      deck = Sections.split(kept.html);
      values = { ...values, ...kept.values };
      byId("title").textContent = values.title;
    }
  };

  tried(async () => {
    take(await load());
    await draft();
    choose(0);
    keep();
  })();
})();
