// The editor's list of kept versions: keep one, go back to one.
"use strict";
(() => {
  const path = `/v1/decks/${site.id}/versions`;
  const most = 20;

  const item = (v) => make("li", {},
    make("div", {}, make("strong", {}, `Version ${v.version}`), make("p", { class: "small" }, `${v.slide_count} slide${v.slide_count === 1 ? "" : "s"} · ${v.author} · `, ago(v.updated_at))),
    make("button", {
      "aria-label": `Go back to version ${v.version}`, onclick: tried(async () => {
        if (Editor.dirty()) throw new Error("There are changes that are not saved. Save them first: going back keeps them as a version.");
        if (!confirm(`Go back to version ${v.version}? The deck as it is now is kept as a version.`)) return;
        await call("POST", `${path}/${encodeURIComponent(v.version)}/restore`);
        Editor.take(await Saving.load());
        await show();
      }),
    }, "Go back"));

  const show = async () => {
    const { answer } = await call("GET", `${path}?per_page=${most}`);
    byId("versions").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, "No version is kept yet. One is before you change a deck that rested for a while.")]));
  };
  byId("tab-details").addEventListener("click", tried(show));
  byId("keep-version").addEventListener("click", tried(async () => {
    await call("POST", path);
    await show();
  }));
})();
