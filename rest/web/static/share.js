// The editor's dialog of private links.
"use strict";
(() => {
  const path = `/v1/decks/${site.id}/share`;

  const guarded = (f) => async (event) => {
    event?.preventDefault?.();
    byId("share-message").hidden = true;
    try {
      await f(event);
    } catch (error) {
      byId("share-message").textContent = error.message;
      byId("share-message").hidden = false;
    }
  };

  const copy = (url) => async (e) => {
    await navigator.clipboard.writeText(url);
    e.target.textContent = "Copied";
  };

  const item = (link) => {
    const about = [
      link.password_protected ? "password" : null,
      link.expired ? "has ended" : link.expires_at ? `ends ${new Date(link.expires_at).toLocaleDateString()}` : null,
      `${link.view_count} ${link.view_count === 1 ? "view" : "views"}`,
    ].filter(Boolean).join(" · ");
    return make("li", {},
      make("div", {}, make("strong", {}, link.name), make("p", {}, about), make("a", { class: "mono", href: link.url, target: "_blank" }, link.url)),
      make("button", { onclick: guarded(copy(link.url)), "aria-label": `Copy the address of ${link.name}` }, "Copy"),
      make("button", {
        class: "danger", "aria-label": `Revoke ${link.name}`, onclick: guarded(async () => {
          await call("DELETE", `${path}/${link.id}`);
          await show();
        }),
      }, "Revoke"));
  };

  const show = async () => {
    const { answer } = await call("GET", path);
    byId("links").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, "No links yet.")]));
  };

  byId("share").addEventListener("click", () => {
    byId("share-dialog").showModal();
    guarded(show)();
  });
  byId("new-link").addEventListener("submit", guarded(async (e) => {
    const f = new FormData(e.target);
    const fields = { notify_on_view: f.get("notify") === "on" };
    if (f.get("name")) fields.name = f.get("name");
    if (f.get("password")) fields.password = f.get("password");
    if (f.get("days")) fields.expires_at = new Date(Date.now() + f.get("days") * 86400e3).toISOString();
    await call("POST", path, fields);
    e.target.reset();
    await show();
  }));
})();
