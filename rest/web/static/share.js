// The page of a deck's private links: make, copy, revoke, and see who looked.
"use strict";
(() => {
  const path = `/v1/decks/${site.id}/share`;

  // What a viewer's program calls itself, in fewer words.
  const program = (agent) => {
    const browser = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]].find(([mark]) => agent.includes(mark));
    const system = [["iPhone", "iPhone"], ["iPad", "iPad"], ["Android", "Android"], ["Windows", "Windows"], ["Mac OS X", "Mac"], ["Linux", "Linux"]].find(([mark]) => agent.includes(mark));
    return [browser?.[1], system?.[1]].filter(Boolean).join(" on ") || agent || "unknown";
  };

  let link = null;
  const draw = (opened) => {
    byId("log-title").textContent = `Views of “${link.name}”`;
    byId("views").replaceChildren(...(opened.length ? opened.map((v) => make("tr", {},
      make("td", { title: new Date(v.viewed_at).toLocaleString() }, ago(v.viewed_at)), make("td", { title: v.user_agent }, program(v.user_agent)), make("td", { class: "soft" }, v.referrer || "—"))) :
      [make("tr", {}, make("td", { colspan: 3, class: "soft" }, "Nobody has opened this link yet."))]));
  };
  const views = pager({ ask: (page) => numbered(`${path}/${link.id}/views`, 25)(page), draw });

  const item = (l) => {
    const state = l.expired ? make("span", { class: "tag bad" }, "has ended") : l.expires_at ? make("span", { class: "tag" }, `expires ${date(new Date(l.expires_at))}`) : null;
    return make("li", {},
      make("div", {}, make("strong", {}, l.name), " ", l.password_protected ? make("span", { class: "tag" }, "password") : null, " ", state,
        make("p", { class: "small mono" }, make("a", { href: l.url, target: "_blank" }, l.url)),
        make("p", { class: "small" }, l.view_count === 1 ? "1 view" : `${l.view_count} views`, l.first_viewed_at ? " · first opened " : " · not opened yet", l.first_viewed_at ? ago(l.first_viewed_at) : "", ...[" · made ", ago(l.created_at)])),
      make("button", { onclick: copy(l.url), "aria-label": `Copy the address of ${l.name}` }, "Copy"),
      make("button", {
        class: "quiet", "aria-label": `Views of ${l.name}`, onclick: tried(async () => {
          link = l;
          await views.go(1);
          byId("log").showModal();
        }),
      }, "Views"),
      make("button", {
        class: "quiet danger", "aria-label": `Revoke ${l.name}`, onclick: tried(async () => {
          if (!confirm(`Revoke “${l.name}”? The link stops working immediately.`)) return;
          await call("DELETE", `${path}/${l.id}`);
          await show();
        }),
      }, "Revoke"));
  };

  const show = async () => {
    const { answer } = await call("GET", path);
    byId("links").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, "No links yet.")]));
  };

  byId("copy")?.addEventListener("click", (e) => copy(byId("copy").dataset.text)(e));
  byId("new-link")?.addEventListener("submit", tried(async (e) => {
    const f = new FormData(e.target);
    const fields = { notify_on_view: f.get("notify") === "on" };
    if (f.get("name")) fields.name = f.get("name");
    if (f.get("password")) fields.password = f.get("password");
    if (f.get("days")) fields.expires_at = new Date(Date.now() + f.get("days") * 86400e3).toISOString();
    await call("POST", path, fields);
    e.target.reset();
    await show();
  }));
  tried(show)().finally(() => {
    if (byId("message").hidden) return;
    byId("links").replaceChildren(make("li", { class: "soft" }, "No links."));
    for (const e of byId("new-link")?.elements || []) e.disabled = true;
  });
})();
