// What the editor can put into a slide: parts of slides, and pictures, which are kept with
// the deck.
"use strict";
(() => {
  const parts = {
    Heading: ["<h2>Heading</h2>\n", "## Heading\n"],
    List: ["<ul>\n  <li>One</li>\n  <li>Two</li>\n</ul>\n", "* One\n* Two\n"],
    "List, step by step": ['<ul>\n  <li class="fragment">One</li>\n  <li class="fragment">Two</li>\n</ul>\n', '* One <!-- .element: class="fragment" -->\n* Two <!-- .element: class="fragment" -->\n'],
    Quote: ["<blockquote>What somebody said</blockquote>\n", "> What somebody said\n"],
    Code: ['<pre><code class="language-js" data-trim data-line-numbers>\nconst answer = 42;\n</code></pre>\n', "```js\nconst answer = 42;\n```\n"],
    Table: ["<table>\n  <tr><th>Name</th><th>Value</th></tr>\n  <tr><td>One</td><td>1</td></tr>\n</table>\n", "| Name | Value |\n|------|-------|\n| One  | 1     |\n"],
    Formula: ["<p>$$e^{i\\pi} + 1 = 0$$</p>\n", "$$e^{i\\pi} + 1 = 0$$\n"],
    Link: ['<a href="https://example.org">Link</a>', "[Link](https://example.org)"],
  };
  // block puts in what begins a line of its own.
  const block = (text) => {
    const source = byId("source");
    if (!Editor.markdown()) {
      const [from, to] = [source.selectionStart, source.selectionEnd].map((n) => Sections.inside(source.value, n));
      source.setSelectionRange(from, to);
    }
    const before = source.value.slice(0, source.selectionStart);
    const lead = /(^|\n)[ \t]*$/.test(before) ? "" : "\n";
    Editor.put((lead && Editor.markdown() ? "\n\n" : lead) + text);
  };

  // New slides to begin with, in HTML and in Markdown where that can say it.
  const column = (name) => `    <div style="flex: 1">\n      <h3>${name}</h3>\n      <p>Text</p>\n    </div>\n`;
  const layouts = {
    Title: ["<h1>Title</h1>\n  <p>What it is about</p>", "# Title\n\nWhat it is about"],
    "Heading and list": ["<h2>Heading</h2>\n  <ul>\n    <li>One</li>\n    <li>Two</li>\n    <li>Three</li>\n  </ul>", "## Heading\n\n* One\n* Two\n* Three"],
    "Two columns": [`<h2>Heading</h2>\n  <div class="r-hstack" style="gap: 1.5em; align-items: start">\n${column("One")}${column("Other")}  </div>`],
    "Big number": ["<h1>42 %</h1>\n  <p>What it stands for</p>", "# 42 %\n\nWhat it stands for"],
    "Quote alone": ["<blockquote>\n    <p>What somebody said</p>\n    <p><small>Who it was</small></p>\n  </blockquote>", "> What somebody said\n>\n> *Who it was*"],
    "New part": ['<h1 class="r-fit-text">Part</h1>', "# Part"],
    Empty: ["", ""],
  };
  const start = (name) => {
    const [html, markdown] = layouts[name];
    if (Editor.markdown() && markdown !== undefined) Editor.insert(`<section data-markdown>\n<script type="text/template">\n${markdown}\n</script>\n</section>`);
    else Editor.insert(`<section>\n  ${html}\n</section>`);
  };

  const select = byId("insert");
  for (const [title, what] of [["Into this slide", parts], ["A new slide", layouts]]) {
    const group = make("optgroup", { label: title });
    for (const name of Object.keys(what)) group.append(new Option(name));
    select.append(group);
  }
  select.addEventListener("change", () => {
    const name = select.value;
    select.value = "";
    if (Object.hasOwn(layouts, name)) return start(name);
    const [html, markdown] = parts[name] || [];
    const put = name === "Link" ? Editor.put : block;
    if (html) put(Editor.markdown() ? markdown : html);
    return undefined;
  });

  const widest = 1920;
  // smaller returns a photo as it is needed on a slide: cameras make larger ones.
  const smaller = async (file) => {
    if (!/^image\/(jpeg|png|webp|avif)$/.test(file.type) || file.size < 400_000) return file;
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, widest / Math.max(picture.width, picture.height));
    const canvas = new OffscreenCanvas(Math.max(1, Math.round(picture.width * scale)), Math.max(1, Math.round(picture.height * scale)));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const type = file.type === "image/jpeg" ? "image/jpeg" : "image/webp";
    const blob = await canvas.convertToBlob({ type, quality: 0.88 });
    if (blob.size >= file.size || blob.type !== type) return file;
    return new File([blob], file.name.replace(/\.[^.]*$/, "") + (type === "image/jpeg" ? ".jpg" : ".webp"), { type });
  };

  const show = (kept) => {
    const about = kept.name.replace(/\.[^.]*$/, "").replace(/[-_]+/g, " ");
    block(Editor.markdown() ? `![${about}](${kept.address}) <!-- .element: class="picture" -->` : `<img class="r-stretch" src="${kept.address}" alt="${about}">`);
  };
  const add = tried(async (file) => {
    if (!/^image\//.test(file.type)) throw new Error(`${file.name} is not a picture.`);
    Editor.say(`Adding ${file.name}…`);
    try {
      const kept = await upload("Deck.AddFile", await smaller(file), { id: Number(site.id) });
      show(kept.data);
    } finally {
      Editor.keep();
    }
  }, false);
  const pictures = (transfer) => [...(transfer?.files || [])].filter((f) => f.type.startsWith("image/"));
  const addAll = async (files) => {
    for (const file of files) await add(file);
  };

  // The pictures that the deck has.
  const dialog = byId("pictures-dialog");
  const size = (n) => (n < 1e6 ? `${Math.max(1, Math.round(n / 1e3))} kB` : `${(n / 1e6).toFixed(1)} MB`);
  const path = `/v1/decks/${site.id}/files`;
  const failed = byId("pictures-failed"); // the page's own place for it lies behind the dialog
  const remove = (f) => async () => {
    failed.hidden = true;
    const used = Editor.html().includes(f.address);
    if (!confirm(used ? `Slides show ${f.name}. Remove it anyway?` : `Remove ${f.name} from the deck?`)) return;
    try {
      await call("DELETE", `${path}/${f.number}${used ? "?force=true" : ""}`);
      await list();
    } catch (e) {
      failed.textContent = e.code === "file_in_use" ? `The saved deck still shows ${f.name}. Save your changes first.` : e.message;
      failed.hidden = false;
    }
  };
  const item = (f) => make("li", {},
    make("button", {
      type: "button", class: "pick", title: `Insert ${f.name} into the slide`, onclick: () => {
        dialog.close();
        show(f);
      },
    }, make("img", { src: `${site.path}/${f.address}${site.files ? `?${site.files}` : ""}`, alt: "", loading: "lazy" }), make("span", {}, f.name)),
    make("span", { class: "soft small" }, `${size(f.size)}${Editor.html().includes(f.address) ? "" : " · not shown"}`),
    make("button", { type: "button", class: "quiet square danger", "aria-label": `Remove ${f.name}`, title: "Remove", onclick: remove(f) }, "×"));
  const list = async () => {
    const { answer } = await call("GET", path);
    byId("pictures").replaceChildren(...answer.data.reverse().map(item));
    byId("no-pictures").hidden = answer.data.length > 0;
  };
  byId("picture").addEventListener("click", tried(async () => {
    failed.hidden = true;
    await list();
    dialog.showModal();
  }));
  byId("upload").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", async () => {
    const files = [...byId("file").files];
    byId("file").value = "";
    dialog.close();
    await addAll(files);
  });

  // A picture may be pasted or dropped anywhere but into another field.
  const elsewhere = (e) => e.target.closest?.("input, textarea:not(#source), dialog");
  document.addEventListener("paste", (e) => {
    const files = pictures(e.clipboardData);
    if (!files.length || elsewhere(e)) return;
    e.preventDefault();
    addAll(files);
  });
  const carries = (e) => [...e.dataTransfer.types].includes("Files");
  const dropping = (on) => document.body.classList.toggle("dropping", on);
  document.addEventListener("dragover", (e) => {
    if (!carries(e)) return;
    e.preventDefault();
    dropping(true);
  });
  document.addEventListener("dragleave", (e) => e.relatedTarget || dropping(false));
  document.addEventListener("drop", (e) => {
    dropping(false);
    if (!carries(e)) return;
    e.preventDefault(); // nor does the window leave for the file
    addAll(pictures(e.dataTransfer));
  });
})();
