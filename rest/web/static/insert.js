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
    const before = source.value.slice(0, source.selectionStart);
    const lead = /(^|\n)[ \t]*$/.test(before) ? "" : "\n";
    Editor.put((lead && Editor.markdown() ? "\n\n" : lead) + text);
  };

  const select = byId("insert");
  for (const name of Object.keys(parts)) select.add(new Option(name));
  select.addEventListener("change", () => {
    const [html, markdown] = parts[select.value] || [];
    const put = select.value === "Link" ? Editor.put : block;
    select.value = "";
    if (html) put(Editor.markdown() ? markdown : html);
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

  const add = tried(async (file) => {
    if (!/^image\//.test(file.type)) throw new Error(`${file.name} is no picture.`);
    Editor.say(`Taking in ${file.name}…`);
    try {
      const kept = await upload("Deck.AddFile", await smaller(file), { id: Number(site.id) });
      const { address, name } = kept.data;
      const about = name.replace(/\.[^.]*$/, "").replace(/[-_]+/g, " ");
      block(Editor.markdown() ? `![${about}](${address}) <!-- .element: class="picture" -->` : `<img class="r-stretch" src="${address}" alt="${about}">`);
    } finally {
      Editor.keep();
    }
  }, false);
  const pictures = (transfer) => [...(transfer?.files || [])].filter((f) => f.type.startsWith("image/"));

  byId("picture").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", async () => {
    const [file] = byId("file").files;
    byId("file").value = "";
    if (file) await add(file);
  });
  const source = byId("source");
  source.addEventListener("paste", (e) => {
    const [file] = pictures(e.clipboardData);
    if (!file) return;
    e.preventDefault();
    add(file);
  });
  source.addEventListener("dragover", (e) => {
    if (![...e.dataTransfer.types].includes("Files")) return;
    e.preventDefault();
    byId("code").classList.add("drop");
  });
  source.addEventListener("dragleave", () => byId("code").classList.remove("drop"));
  source.addEventListener("drop", async (e) => {
    byId("code").classList.remove("drop");
    const files = pictures(e.dataTransfer);
    if (!files.length) return;
    e.preventDefault();
    for (const file of files) await add(file);
  });
})();
