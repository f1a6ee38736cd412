// Saves what the editor changed, finds out who else did, and takes up what was not saved.
"use strict";
const Saving = (() => {
  const { id } = site;

  const load = async () => {
    const { answer, etag } = await call("GET", `/v1/decks/${id}`, undefined, { "Deck-Revision": "union" });
    return { data: answer.data, etag };
  };

  const put = async (force) => {
    const sent = Editor.changes();
    const got = await run("Deck.Update", { id: Number(id), ...sent, ifMatch: force ? "" : Editor.saved.etag });
    Editor.merge(got, sent);
    const removed = got.meta?.sanitized || [];
    if (removed.length) complain(new Error(`Active content was removed: ${removed.join(", ")}.`));
  };

  const ask = (dialog) => new Promise((answer) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => answer(dialog.returnValue), { once: true });
    dialog.showModal();
  });

  const conflict = async () => {
    const theirs = await load();
    byId("conflict-when").textContent = new Date(theirs.data.updated_at).toLocaleString();
    const both = Editor.all.filter((n) => theirs.data[n] !== Editor.value(n));
    byId("conflict-fields").textContent = both.length ? `Also different: ${both.map((n) => n.replaceAll("_", " ")).join(", ")}.` : "";
    const answer = ask(byId("conflict-dialog"));
    Conflict.show(Editor.html(), theirs.data.data);
    switch (await answer) {
      case "mine":
        await call("POST", `/v1/decks/${id}/versions`); // theirs stays as a version
        return put(true);
      case "theirs":
        Editor.take(theirs);
    }
    return undefined;
  };

  const save = tried(async () => {
    if (!Editor.dirty() || Editor.saving) return;
    Editor.saving = true;
    byId("save").disabled = true;
    Editor.say("Saving…");
    try {
      await put(false).catch((e) => {
        if (e instanceof Refused && e.status === 412) return conflict();
        throw e;
      });
    } finally {
      Editor.saving = false;
      Editor.keep();
    }
  });
  byId("save").addEventListener("click", save);
  // What opens elsewhere is the deck as it is saved.
  for (const name of ["present", "view"]) {
    byId(name).addEventListener("click", async (e) => {
      if (!Editor.dirty()) return;
      e.preventDefault();
      const { href } = e.currentTarget;
      await save();
      if (!Editor.dirty()) window.open(href, "_blank", "noopener");
    });
  }

  const draft = async () => {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(Editor.draftKey));
    } catch {
      return;
    }
    if (!kept || typeof kept.html !== "string" || typeof kept.values !== "object") return;
    if (kept.html === Editor.html() && Editor.all.every((n) => !(n in kept.values) || kept.values[n] === Editor.value(n))) return;
    byId("draft-when").textContent = new Date(kept.at).toLocaleString();
    byId("draft-stale").hidden = kept.etag === Editor.saved.etag;
    if (await ask(byId("draft-dialog")) !== "drop") Editor.restore(kept);
    else localStorage.removeItem(Editor.draftKey);
  };

  tried(async () => {
    const got = await load();
    const kept = localStorage.getItem(Editor.draftKey); // taking the deck forgets it
    Editor.take(got);
    if (kept) localStorage.setItem(Editor.draftKey, kept);
    await draft();
    Editor.keep();
  })();
  return { load, save };
})();
