// The console's page of API keys.
"use strict";
(() => {
  const state = (key) => {
    if (key.revoked) return make("span", { class: "tag bad" }, "revoked");
    if (key.expires && new Date(key.expires) <= new Date()) return make("span", { class: "tag" }, "ended");
    return make("button", {
      class: "quiet danger", "aria-label": `Revoke ${key.name || `key ${key.id}`}`, onclick: tried(async () => {
        if (!confirm(`Revoke “${key.name || key.id}”? Programs that use it stop working immediately.`)) return;
        await run("Key.Revoke", { id: key.id });
        await show();
      }),
    }, "Revoke");
  };

  const row = (key) => make("tr", {},
    make("td", {}, key.name || "", " ", make("span", { class: "soft" }, `#${key.id}`), key.revision ? make("span", { class: "tag" }, `revision ${key.revision}`) : null),
    make("td", {}, make("span", { class: "tag" }, key.scope === "read_write" ? "read and write" : "read")),
    make("td", {}, moment(key.created)),
    make("td", {}, ago(key.lastUsed) || make("span", { class: "soft" }, "never")),
    make("td", {}, moment(key.expires) || make("span", { class: "soft" }, "never")),
    make("td", { class: "end" }, state(key)));

  const show = async () => {
    const keys = await run("Key.List", { user: site.user });
    keys.sort((a, b) => Boolean(a.revoked) - Boolean(b.revoked) || b.id - a.id);
    byId("list").replaceChildren(...(keys.length ? keys.map(row) : [make("tr", {}, make("td", { colspan: 6, class: "soft" }, "No keys yet. Enter a name to create one."))]));
  };

  byId("new").addEventListener("submit", tried(async (e) => {
    const f = new FormData(e.target);
    const params = { name: f.get("name"), scope: f.get("scope") };
    if (f.get("revision")) params.revision = f.get("revision");
    if (f.get("days")) params.expires = new Date(Date.now() + f.get("days") * 86400e3).toISOString();
    const answer = await run("Key.Create", params);
    byId("secret").textContent = answer.key;
    byId("made").hidden = false;
    byId("made").scrollIntoView({ block: "nearest" });
    byId("copy").lastElementChild.textContent = "Copy";
    e.target.reset();
    await show();
  }));
  byId("copy").addEventListener("click", tried(async () => {
    await navigator.clipboard.writeText(byId("secret").textContent);
    byId("copy").lastElementChild.textContent = "Copied";
  }));
  tried(show)();
})();
