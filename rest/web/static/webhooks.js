// The console's page of webhooks.
"use strict";
(() => {
  const reveal = (answer) => {
    if (!answer.secret) return;
    byId("secret").textContent = answer.secret;
    byId("made").hidden = false;
    byId("copy").lastElementChild.textContent = "Copy";
    byId("made").scrollIntoView({ block: "nearest" });
  };

  const states = { delivered: "good", failed: "bad" };
  const log = async (hook) => {
    const rows = (await run("Webhook.Deliveries", { id: hook.id, limit: 50 })).map((d) => make("tr", {},
      make("td", {}, ago(d.created)), make("td", {}, make("code", {}, d.type)),
      make("td", {}, make("span", { class: `tag ${states[d.state] || ""}` }, d.status ? `${d.state} ${d.status}` : d.state), d.failure ? make("p", { class: "soft small" }, d.failure) : null),
      make("td", {}, String(d.tries ?? 0)),
      make("td", { class: "end" }, make("button", {
        class: "quiet", "aria-label": `Send ${d.type} again`, onclick: tried(async () => {
          await run("Webhook.Redeliver", { id: hook.id, delivery: d.id });
          await log(hook);
        }),
      }, "Send again"))));
    byId("log-title").textContent = `Deliveries to ${hook.url}`;
    byId("deliveries").replaceChildren(...(rows.length ? rows : [make("tr", {}, make("td", { colspan: 5, class: "soft" }, "No deliveries yet."))]));
  };

  const item = (hook) => {
    const change = (params) => tried(async () => {
      reveal(await run("Webhook.Update", { id: hook.id, ...params }));
      await show();
    });
    return make("li", {},
      make("div", {}, make("strong", {}, hook.description || hook.url), hook.description ? make("p", { class: "mono" }, hook.url) : null,
        make("p", { class: "small" }, ...hook.events.flatMap((e) => [make("code", {}, e), " "]),
          hook.enabled ? make("span", { class: "tag good" }, "on") : make("span", { class: "tag bad" }, hook.reason || "off"),
          hook.failures ? ` ${hook.failures} failed in a row` : "")),
      make("button", {
        class: "quiet", "aria-label": `Deliveries to ${hook.url}`, onclick: tried(async () => {
          await log(hook);
          byId("log").showModal();
        }),
      }, "Deliveries"),
      make("button", { class: "quiet", "aria-label": `New secret for ${hook.url}`, onclick: change({ newSecret: true }) }, "New secret"),
      make("button", { class: "quiet", "aria-label": `Turn ${hook.url} ${hook.enabled ? "off" : "on"}`, onclick: change({ enabled: !hook.enabled }) }, hook.enabled ? "Turn off" : "Turn on"),
      make("button", {
        class: "quiet danger", "aria-label": `Delete ${hook.url}`, onclick: tried(async () => {
          if (!confirm(`Delete the webhook to ${hook.url}?`)) return;
          await run("Webhook.Delete", { id: hook.id });
          await show();
        }),
      }, "Delete"));
  };

  const show = async () => {
    const hooks = await run("Webhook.List", { owner: site.user });
    byId("list").replaceChildren(...(hooks.length ? hooks.map(item) : [make("li", { class: "soft" }, "No webhooks yet.")]));
  };

  byId("new").addEventListener("submit", tried(async (e) => {
    const f = new FormData(e.target);
    const all = f.getAll("event");
    if (!all.length) throw new Error("Choose at least one event.");
    const params = { url: f.get("url"), events: all.includes("*") ? ["*"] : all };
    if (f.get("description")) params.description = f.get("description");
    reveal(await run("Webhook.Create", params));
    e.target.reset();
    await show();
  }));
  byId("copy").addEventListener("click", tried(async () => {
    await navigator.clipboard.writeText(byId("secret").textContent);
    byId("copy").lastElementChild.textContent = "Copied";
  }));
  tried(show)();
})();
