// Permissions of a document: its own, those it inherits, and the dialog that grants one.
"use strict";
const DocAccess = (() => {
  const { may, op, title } = Docs;
  let about = null;

  const refresh = () => Docs.redrawn(byId("access"), async () => show(await Docs.read(about)));
  const when = (text) => new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  const term = (a) => (a.begin || a.end ? [a.begin ? `from ${when(a.begin)}` : "", a.end ? `until ${when(a.end)}` : ""].filter(Boolean).join(" ") : "without limit");
  const blocks = (a) => a.username === "Everyone" && a.permission === "Everything" && !a.granted;

  // grant adds an entry, or replaces one.
  const grant = (old) => {
    const permissions = [...new Set([...(about.contextParameters.userVisiblePermissions || []), ...(old ? [old.permission] : [])])];
    const form = Form.of([
      { name: "users", label: old ? "User or group" : "Users and groups", kind: "text", list: !old, pick: "who", required: true },
      { name: "permission", kind: "choice", values: permissions, required: true },
      { name: "begin", label: "From", kind: "date" }, { name: "end", label: "Until", kind: "date" },
      { name: "notify", label: "Tell them by mail", kind: "boolean" }, { name: "comment", label: "Text of the mail", kind: "text", lines: 2 },
    ], old ? { users: old.username, permission: old.permission, begin: old.begin, end: old.end, notify: false } : { permission: permissions[0], notify: false });
    return Dialogs.open({ title: old ? `Change the permission of ${old.username}` : `Grant a permission on ${title(about)}`, action: old ? "Change" : "Grant", body: [form.element], act: async () => {
      const { users, ...params } = form.value();
      if (!old && !users?.length) throw new Error("Name at least one user or group.");
      if (params.begin && params.end && params.begin >= params.end) {
        form.field("end").say("Must be later than the beginning.")?.focus();
        return false;
      }
      try {
        if (old) await op(about, "Document.ReplacePermission", { ...params, id: old.id, username: users });
        else await op(about, "Document.AddPermission", { ...params, users });
      } catch (error) {
        form.fail(error);
        throw error;
      }
      return true;
    } });
  };

  const line = (a, list, change) => make("tr", {},
    make("th", { scope: "row" }, a.username), make("td", {}, a.granted ? a.permission : `not ${a.permission}`), make("td", {}, term(a)),
    make("td", {}, make("span", { class: `tag ${{ effective: "good", archived: "bad" }[a.status] || ""}` }, { effective: "in effect", pending: "not yet", archived: "ended" }[a.status] || a.status)),
    make("td", {}, list === "inherited" ? "inherited" : list === "local" ? "here" : list, a.creator ? make("span", { class: "soft small" }, ` by ${a.creator}`) : null),
    make("td", { class: "end" }, ...(change && list === "local" ? [
      make("button", { type: "button", class: "quiet", "aria-label": `Change ${a.permission} of ${a.username}`, onclick: tried(async () => await grant(a) && refresh()) }, "Change"),
      make("button", { type: "button", class: "quiet danger", "aria-label": `Remove ${a.permission} of ${a.username}`, onclick: tried(async () => {
        if (!await Dialogs.confirm("Remove a permission", `Remove ${a.permission} of ${a.username}?`, "Remove")) return;
        await op(about, "Document.RemovePermission", { id: a.id, acl: list });
        await refresh();
      }) }, "Remove")] : [])));

  const show = (d) => {
    about = d;
    const change = may(d, "WriteSecurity") && !d.isVersion;
    const lists = d.contextParameters.acls || [];
    const blocked = lists.some((l) => l.name === "local" && l.aces.some(blocks));
    const rows = lists.flatMap((l) => l.aces.filter((a) => !blocks(a)).map((a) => line(a, l.name, change)));
    byId("access").replaceChildren(make("div", { class: "panel scroll" },
      make("table", {}, make("caption", {}, "Permissions"), make("thead", {}, make("tr", {}, ...["Who", "Permission", "When", "State", "Given"].map((t) => make("th", { scope: "col" }, t)), make("th", { scope: "col" }, make("span", { class: "only-read" }, "Change")))),
        make("tbody", {}, ...rows)),
      make("p", { class: "soft" }, blocked ? "Permissions of the folders above are not inherited." : "Permissions of the folders above apply here too."),
      ...(change ? [make("div", { class: "row" }, make("button", { type: "button", class: "primary", onclick: tried(async () => await grant() && refresh()) }, "Grant a permission"),
        make("button", { type: "button", onclick: tried(async () => {
          const [text, what] = blocked ? ["Inherit the permissions of the folders above again?", "Inherit"] : ["Block what is inherited? You and administrators keep access; everybody else needs a permission given here.", "Block"];
          if (!await Dialogs.confirm("Inherited permissions", text, what, !blocked)) return;
          await op(about, blocked ? "Document.UnblockPermissionInheritance" : "Document.BlockPermissionInheritance");
          await refresh();
        }) }, blocked ? "Inherit permissions" : "Block inheritance"))] : [])));
  };

  return { show };
})();
