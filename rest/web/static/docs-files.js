// Files: those of a document, its preview and renditions, and files and folders that are dropped on the page.
"use strict";
const DocFiles = (() => {
  const { title } = Docs;
  const at = (d) => site.prefix + Docs.at(d);

  // preview shows the main file: pictures and media as they are, texts in a frame without scripts, the rest as a small picture.
  const preview = async (d) => {
    const box = byId("preview");
    box.replaceChildren();
    const main = d.properties["file:content"];
    const type = main?.["mime-type"] || "";
    if (d.isTrashed || (!main && !d.properties["note:note"])) return;
    const bytes = `${at(d)}/@blob/file:content?changeToken=${d.changeToken}`;
    if (/^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/.test(type)) box.append(make("img", { src: bytes, alt: `Preview of ${title(d)}`, loading: "lazy" }));
    else if (type.startsWith("video/")) box.append(make("video", { src: bytes, controls: true }));
    else if (type.startsWith("audio/")) box.append(make("audio", { src: bytes, controls: true }));
    else if (d.type === "Note" || /^text\/(plain|html|markdown|csv)|json$/.test(type)) {
      const response = await fetch(`${at(d)}/@preview`, { credentials: "same-origin" });
      if (response.ok) box.append(make("iframe", { sandbox: "", title: `Preview of ${title(d)}`, srcdoc: (await response.text()).slice(0, 400e3) }));
    } else {
      box.append(make("img", { src: `${at(d)}/@rendition/thumbnail?changeToken=${d.changeToken}`, alt: `Small picture of ${title(d)}`, class: "small-picture", onerror: (e) => e.target.remove() }));
    }
  };

  const files = (d) => {
    const all = Docs.filesIn(d.properties).filter(([path]) => !/^(picture:views|thumb:)/.test(path));
    const renditions = (d.contextParameters.renditions || []).filter((r) => r.name !== "thumbnail");
    byId("files").hidden = !all.length && !renditions.length;
    byId("files").querySelector("ul").replaceChildren(
      ...all.map(([, f]) => make("li", {}, make("div", {}, f.data ? make("a", { href: f.data }, f.name || "file") : f.name || "file"), make("span", { class: "soft small" }, `${f["mime-type"]}, ${Form.size(Number(f.length))}`))),
      ...(renditions.length ? [make("li", {}, make("div", { class: "row" }, make("span", { class: "soft small" }, "Also as"), ...renditions.map((r) => make("a", { class: "button quiet", href: `${at(d)}/@rendition/${r.name}`, download: "" }, { pdf: "PDF", xmlExport: "XML", zipExport: "ZIP", zipTreeExport: "ZIP of everything below" }[r.name] || Form.words(r.name)))))] : []));
  };

  // gather reads what was dropped: files with the folders they lie in, however deep.
  const gather = async (items) => {
    const out = [];
    const walk = async (entry, path) => {
      if (entry.isFile) return out.push([path, await new Promise((ok, no) => entry.file(ok, no))]);
      const reader = entry.createReader();
      const inner = [...path, entry.name];
      out.push([inner, null]);
      for (;;) {
        const part = await new Promise((ok, no) => reader.readEntries(ok, no));
        if (!part.length) return undefined;
        for (const one of part) await walk(one, inner);
      }
    };
    for (const entry of [...items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry, []);
    return out;
  };

  // send makes a document of each file, three at a time, and a folder of each folder.
  const send = async (folder, all, say) => {
    const made = new Map([["", folder]]);
    const inside = async (path) => {
      const key = path.join("/");
      if (!made.has(key)) made.set(key, inside(path.slice(0, -1)).then((above) => Docs.op(above, "FileManager.CreateFolder", { title: path.at(-1), overwrite: true })).then((d) => ({ repository: folder.repository, uid: d.uid })));
      return made.get(key);
    };
    let done = 0;
    const failed = [];
    const files = all.filter(([, f]) => f);
    for (const [path, f] of all) if (!f) await inside(path);
    const queue = [...files];
    const work = async () => {
      for (let one = queue.shift(); one; one = queue.shift()) {
        try {
          await Docs.add(await inside(one[0]), one[1]);
        } catch (error) {
          failed.push(`${one[1].name}: ${error.message}`);
        }
        say(`${++done} of ${files.length} files uploaded`);
      }
    };
    await Promise.all([work(), work(), work()]);
    if (failed.length) throw new Error(`Not uploaded: ${failed.slice(0, 5).join("; ")}${failed.length > 5 ? ` and ${failed.length - 5} more` : ""}`);
    return done;
  };

  // accept lets files be dropped on an element, or chosen; folder() is where they go, or null.
  const accept = (zone, folder, after) => {
    const over = (on) => zone.classList.toggle("over", on);
    const take = (get) => tried(async (e) => {
      over(false);
      const to = folder();
      if (!to) return;
      const all = await get(e);
      const n = await send(to, all, (text) => {
        byId("done").textContent = text;
        byId("done").hidden = false;
      }).finally(after);
      byId("done").textContent = `${n} ${n === 1 ? "file" : "files"} uploaded.`;
      byId("done").hidden = false;
    });
    zone.addEventListener("dragover", (e) => {
      if (![...e.dataTransfer.types].includes("Files")) return;
      e.preventDefault(); // where nothing can be added either: the browser would leave the page and show the file
      if (folder()) over(true);
      else e.dataTransfer.dropEffect = "none";
    });
    zone.addEventListener("dragleave", (e) => zone.contains(e.relatedTarget) || over(false));
    zone.addEventListener("drop", take((e) => gather(e.dataTransfer.items)));
    byId("upload").addEventListener("change", take(async (e) => {
      const all = [...e.target.files].map((f) => [f.webkitRelativePath.split("/").slice(0, -1).filter(Boolean), f]);
      e.target.value = "";
      return all;
    }));
  };

  return { preview, files, accept };
})();
