// The editor's dialog that makes a PDF or a ZIP of a deck.
"use strict";
(() => {
  const path = `/v1/decks/${site.id}/exports`;
  const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
  const say = (...content) => byId("export-state").replaceChildren(...content);

  const finished = async (made) => {
    let got = made;
    let wait = 0.4; // most files are there at once
    while (got.answer.data.status === "pending") {
      await pause(wait);
      wait = Math.min(10, got.answer.meta?.poll_after_seconds || 2);
      got = await call("GET", `${path}/${got.answer.data.id}`);
    }
    return got.answer.data;
  };

  const earlier = async () => {
    const { answer } = await call("GET", path);
    byId("made-title").hidden = answer.data.length === 0;
    byId("exports").replaceChildren(...answer.data.map((e) => make("li", {},
      make("div", {}, make("strong", {}, e.format.toUpperCase()), " ", ago(e.created_at)),
      e.status === "completed" ? make("a", { class: "button", href: e.download_url, download: true, "aria-label": `Download the ${e.format.toUpperCase()} of ${new Date(e.created_at).toLocaleString()}` }, "Download") :
        make("span", { class: e.status === "failed" ? "tag bad" : "tag", title: e.error?.message }, e.status))));
  };

  const form = byId("new-export");
  byId("download").addEventListener("click", () => {
    say(Editor.dirty() ? "Unsaved changes will not be in the file." : "");
    byId("download-dialog").showModal();
    earlier().catch((error) => say(error.message));
  });
  form.addEventListener("change", () => {
    byId("pdf-options").hidden = form.elements.format.value !== "pdf";
  });
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const f = form.elements;
    const wanted = { format: f.format.value };
    if (wanted.format === "pdf") {
      for (const name of ["slide_number", "slide_notes", "separate_fragments"]) wanted[name] = f[name].checked;
      wanted.margin = Number(f.margin.value);
    }
    say("Creating the file…");
    try {
      const file = await disabling([form.querySelector("button")], async () => finished(await call("POST", path, wanted)));
      if (file.status !== "completed") throw new Error(file.error?.message || "The file could not be created.");
      say(make("a", { class: "button primary", href: file.download_url, download: true }, `Download the ${file.format.toUpperCase()}`));
      await earlier();
    } catch (error) {
      say(error.message);
    }
  });
})();
