// The console's list of decks: throw away and take back, create, import.
"use strict";
(() => {
  // Addresses of documents, as mails have them, lead here.
  const [, named] = /^#!\/doc\/(.+)$/.exec(location.hash) || [];
  if (named) location.replace(`${site.prefix}/ui/documents#${named}`);

  for (const t of document.querySelectorAll("time")) t.replaceWith(ago(t.dateTime));

  const acts = {
    trash: async (id, title) => {
      if (!confirm(`Move “${title}” to the trash?`)) return false;
      await call("POST", `/v1/decks/${id}/trash`);
      return true;
    },
    recover: async (id) => {
      await call("POST", `/v1/decks/${id}/recover`);
      return true;
    },
  };
  byId("list")?.addEventListener("click", tried(async (e) => {
    const button = e.target.closest("[data-act]");
    if (!button) return;
    const card = button.closest("li");
    if (!await disabling([button], () => acts[button.dataset.act](card.dataset.id, card.dataset.title))) return;
    const next = (card.nextElementSibling || card.previousElementSibling)?.querySelector("a, button");
    card.remove();
    if (next) next.focus();
    else location.reload();
  }, false));

  const starts = {
    title: (h) => `<section>\n  <h1>${h}</h1>\n  <p>What it is about</p>\n</section>`,
    outline: (h) => `<section>\n  <h1>${h}</h1>\n  <p>What it is about</p>\n</section>
<section>\n  <h2>Agenda</h2>\n  <ul>\n    <li>First</li>\n    <li>Second</li>\n    <li>Third</li>\n  </ul>\n</section>
<section>\n  <h2>First</h2>\n  <p>One idea per slide.</p>\n</section>
<section>\n  <h2>Thank you</h2>\n  <p>Questions?</p>\n</section>`,
    markdown: (h) => [`# ${h}\n\nWhat it is about`, "## Agenda\n\n* First\n* Second\n* Third", "## First\n\nOne idea per slide.", "## Thank you\n\nQuestions?"]
      .map((text) => `<section data-markdown>\n<script type="text/template">\n${text}\n</script>\n</section>`).join("\n"),
  };
  const open = (dialog) => () => {
    byId(dialog).querySelector("form").reset();
    byId(dialog).showModal();
  };
  const go = (answer) => {
    location.href = `${new URL(answer.data.url).pathname}/edit`;
  };
  byId("create")?.addEventListener("click", open("new-dialog"));
  byId("import")?.addEventListener("click", open("import-dialog"));
  for (const b of document.querySelectorAll(".cancel")) b.addEventListener("click", () => b.closest("dialog").close());

  byId("new").addEventListener("submit", tried(async (e) => {
    const f = new FormData(e.target);
    const p = document.createElement("p");
    p.textContent = f.get("title");
    const { answer } = await call("POST", "/v1/decks", { title: f.get("title"), data: starts[f.get("start")](p.innerHTML) });
    go(answer);
  }));
  byId("import-form").addEventListener("submit", async (e) => {
    e.preventDefault();
    const form = e.target;
    const box = form.querySelector("[role=alert]");
    const button = form.querySelector(".primary");
    box.hidden = true;
    button.disabled = true;
    try {
      const f = new FormData(form);
      const file = f.get("file");
      if (file.size > 10 * 1024 * 1024) throw new Error("The file is larger than 10 MiB.");
      const params = f.get("title") ? { title: f.get("title") } : {};
      go(await upload("Deck.Import", file, params));
    } catch (error) {
      box.textContent = error.message;
      box.hidden = false;
      button.disabled = false;
    }
  });
})();
