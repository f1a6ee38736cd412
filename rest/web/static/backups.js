// The backups of the server: those that are kept, and the one that is being made or verified.
"use strict";
const Backups = (() => {
  const { size } = Form;
  const doing = (n) => {
    const what = n.verifying ? "verified" : "made";
    return `${n.name} is being ${what}: ${size(n.bytes)}${n.expected ? ` of about ${size(Math.max(n.expected, n.bytes))}` : ""}${n.by ? `, for ${n.by}` : ""}.`;
  };
  const ended = (n) => (n.failure ? `${n.name}: ${n.failure}` : n.only ? `${n.name} was verified: it is whole.` : `${n.name} was made and verified in ${lasts((new Date(n.ended) - new Date(n.began)) * 1e6)}.`);

  // section shows what Server.Status says of backups, and looks again while one is being made.
  const section = (first) => {
    const box = make("section", { class: "panel", "aria-labelledby": "backups-title" });
    const said = make("p", { role: "status" });
    const failed = make("p", { class: "alert", role: "alert", hidden: true });
    const bar = make("progress", { "aria-label": "Progress of the backup", hidden: true });
    const body = make("div");
    let asked = false; // for one since the page was opened: its end is told

    const begin = (name) => tried(async () => {
      asked = true;
      failed.hidden = true;
      await run("Server.BackUp", name ? { name } : {});
      await look();
    });
    const row = (b, busy) => make("tr", {}, make("th", { scope: "row" }, new Date(b.time).toLocaleString()), make("td", {}, ago(b.time)), make("td", {}, size(b.size)),
      make("td", {}, b.problem ? make("span", { class: "tag bad" }, b.problem) : b.verified ? make("span", { class: "tag good" }, "whole, read ", ago(b.verified)) : "not since the start of the server"),
      make("td", {}, make("button", { type: "button", class: "quiet", disabled: busy, "aria-label": `Verify ${b.name}`, onclick: begin(b.name) }, "Verify")));

    const show = (b) => {
      said.textContent = b.now ? doing(b.now) : asked && b.ended && !b.ended.failure ? ended(b.ended) : "";
      const wrong = [b.failure, !b.now && asked && b.ended?.failure ? ended(b.ended) : ""].filter(Boolean);
      failed.textContent = wrong.join(" · ");
      failed.hidden = !wrong.length;
      bar.hidden = !b.now;
      if (b.now?.expected) bar.setAttribute("max", Math.max(b.now.expected, b.now.bytes)), bar.setAttribute("value", b.now.bytes);
      else bar.removeAttribute("value");
      body.replaceChildren(make("p", {}, make("button", { type: "button", class: "primary", disabled: Boolean(b.now), onclick: begin("") }, "Back up now")),
        b.made.length ? make("div", { class: "scroll" }, make("table", {}, make("caption", {}, "Backups that exist"), make("thead", {}, make("tr", {}, ...["Made", "Age", "Size", "Verified"].map((h) => make("th", { scope: "col" }, h)), make("th", { scope: "col" }, make("span", { class: "only-read" }, "Verify")))), make("tbody", {}, ...b.made.map((one) => row(one, Boolean(b.now))))))
          : make("p", { class: "soft" }, "None yet."));
    };
    // look shows the present state, and comes back while a backup goes on. One that was asked for a moment ago may not have begun.
    const look = async (tries = 3) => {
      const { backups: b } = await run("Server.Status", {});
      if (!box.isConnected) return;
      show(b);
      if (b.now || tries > 0) setTimeout(() => look(b.now ? 3 : tries - 1).catch(complain), b.now ? 700 : 300);
    };

    box.append(make("h2", { id: "backups-title" }, "Backups"),
      first ? make("p", {}, `The server makes one every ${span(first.every)} in ${first.folder}, and keeps ${first.keep}.`) : make("p", { class: "soft" }, "The server makes no backups: the setting ", make("code", {}, "backup-folder"), " is not set. ", make("a", { href: `${site.prefix}/docs/operate#backups` }, "How backups are made")),
      said, bar, failed, ...(first ? [body] : []), make("p", {}, make("a", { class: "button", href: `${site.prefix}/api/v1/backup`, download: "" }, "Download a backup")));
    if (first) {
      show(first);
      if (first.now) setTimeout(() => look().catch(complain), 700);
    }
    return box;
  };
  return { section };
})();
