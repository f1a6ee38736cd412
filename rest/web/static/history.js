// The editor's list of kept versions: keep one, go back to one.
"use strict";
(() => {
  const path = `/v1/decks/${site.id}/versions`;
  const most = 20;

  const item = (v) => make("li", {},
    make("div", {}, make("strong", {}, `Version ${v.version}`), make("p", { class: "small" }, `${v.slide_count} slide${v.slide_count === 1 ? "" : "s"} · ${v.author} · `, ago(v.updated_at))),
    make("button", {
      "aria-label": `Restore version ${v.version}`, onclick: tried(async () => {
        if (Editor.dirty()) throw new Error("There are unsaved changes. Save them first, so that they are kept as a version.");
        if (!confirm(`Restore version ${v.version}? The current deck is kept as a version.`)) return;
        await call("POST", `${path}/${encodeURIComponent(v.version)}/restore`);
        Editor.take(await Saving.load());
        await show();
      }),
    }, "Go back"));

  const show = async () => {
    const { answer } = await call("GET", `${path}?per_page=${most}`);
    byId("versions").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, "There are no versions yet. A version is created when you change a deck that has been unchanged for a while.")]));
  };
  byId("tab-details").addEventListener("click", tried(show));
  byId("keep-version").addEventListener("click", tried(async () => {
    await call("POST", path);
    await show();
  }));
})();
