// The console's list of decks.
"use strict";
(() => {
  const per = 20;
  let page = 1;
  let trash = false;

  const remove = (deck) => tried(async () => {
    if (!confirm(`Move “${deck.title}” to the trash?`)) return;
    await call("POST", `/v1/decks/${deck.id}/trash`);
    await show();
  });

  const recover = (deck) => tried(async () => {
    await call("POST", `/v1/decks/${deck.id}/recover`);
    await show();
  });

  const item = (deck) => {
    if (trash) {
      return make("li", {},
        make("div", {}, make("strong", {}, deck.title), make("p", {}, deck.trashed_at ? "In the trash since " : "In the trash", moment(deck.trashed_at))),
        make("button", { onclick: recover(deck), "aria-label": `Take ${deck.title} out of the trash` }, "Recover"));
    }
    const path = new URL(deck.url).pathname;
    return make("li", {},
      make("div", {}, make("a", { href: path }, make("strong", {}, deck.title)), make("p", {}, deck.description || "")),
      make("a", { class: "button", href: `${path}/edit` }, "Edit"),
      make("a", { class: "button", href: `${path}/present` }, "Present"),
      make("button", { class: "quiet danger", onclick: remove(deck), "aria-label": `Move ${deck.title} to the trash` }, "Trash"));
  };

  const show = async () => {
    const { answer } = await call("GET", `/v1/decks${trash ? "/trashed" : ""}?page=${page}&per_page=${per}`);
    const { total } = answer.meta;
    if (answer.data.length === 0 && page > 1) {
      page--;
      return show();
    }
    byId("list").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, trash ? "The trash is empty." : "No decks yet. Create the first one above.")]));
    const last = Math.max(1, Math.ceil(total / per));
    byId("place").textContent = total > per ? `${page} / ${last}` : "";
    byId("prev").hidden = byId("next").hidden = total <= per;
    byId("prev").disabled = page <= 1;
    byId("next").disabled = page >= last;
  };

  const choose = (t) => tried(async () => {
    trash = t;
    page = 1;
    byId("active").setAttribute("aria-pressed", String(!t));
    byId("trash").setAttribute("aria-pressed", String(t));
    await show();
  });
  byId("active").addEventListener("click", choose(false));
  byId("trash").addEventListener("click", choose(true));
  byId("prev").addEventListener("click", tried(() => (page--, show())));
  byId("next").addEventListener("click", tried(() => (page++, show())));
  byId("new").addEventListener("submit", tried(async (e) => {
    const title = new FormData(e.target).get("title");
    const p = document.createElement("h1");
    p.textContent = title;
    const { answer } = await call("POST", "/v1/decks", { title, data: `<section>\n  ${p.outerHTML}\n</section>` });
    location.href = `${new URL(answer.data.url).pathname}/edit`;
  }));
  tried(show)();
})();
