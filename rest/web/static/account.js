// The console's page of the own account: profile, password, and everything that is signed in.
"use strict";
(() => {
  const say = (text) => {
    byId("done").textContent = text;
    byId("done").hidden = !text;
  };
  const me = `/api/v1/user/${encodeURIComponent(site.user)}`;
  let form = null;

  const profile = async () => {
    const { answer: u } = await call("GET", "/api/v1/me");
    const fields = ["firstName", "lastName", "email", "company"];
    form = Form.of(fields.map((name) => ({ name, kind: "text" })), u.properties);
    // Only administrators may change users, themselves included.
    const shown = fields.filter((name) => u.properties[name]).map((name) => make("p", {}, `${Form.words(name)}: ${u.properties[name]}`));
    byId("fields").replaceChildren(...(u.isAdministrator ? [form.element] : [...shown, make("p", { class: "soft" }, "Administrators change your profile.")]));
    byId("profile").querySelector("button.primary").hidden = !u.isAdministrator;
    const groups = u.properties.groups || [];
    byId("groups").textContent = groups.length ? `Groups: ${groups.join(", ")}` : "You are in no group.";
  };

  const list = (id, all, empty) => byId(id).replaceChildren(...(all.length ? all : [make("li", { class: "soft" }, empty)]));
  const end = (label, name, done, act) => make("button", { type: "button", class: "quiet danger", "aria-label": `${label} ${name}`, onclick: tried(async (e) => {
    const section = e.target.closest("section");
    if (!await Dialogs.confirm(label, `${label} ${name}?`, label)) return;
    await act();
    await signedIn();
    say(done);
    section.tabIndex = -1;
    section.focus(); // the button is gone
  }) }, label);

  const signedIn = async () => {
    const [sessions, tokens, given] = await Promise.all([run("SignIn.List", {}), call("GET", "/api/v1/token").then((a) => a.answer.entries || []), call("GET", "/api/v1/oauth2/token/client").then((a) => a.answer.entries || [])]);
    list("sessions", sessions.map((s) => make("li", {}, make("div", {}, make("strong", {}, s.current ? "This browser" : "Another browser"), make("p", { class: "small" }, s.began ? `signed in ${new Date(s.began).toLocaleString()} · ` : "", `until ${new Date(s.expires).toLocaleString()}`)),
      s.current ? null : end("Sign out", s.began ? `the browser that signed in on ${new Date(s.began).toLocaleString()}` : "the other browser", "The other browser has to sign in again.", () => run("SignIn.End", { id: s.id })))), "You are signed in by something else than a browser.");
    list("devices", [
      ...tokens.map((t) => make("li", {}, make("div", {}, make("strong", {}, t.application), make("p", { class: "small" }, [t.deviceDescription || t.deviceId, t.permission].filter(Boolean).join(" · "))), end("Revoke", `the token of ${t.application}`, "Revoked.", () => call("DELETE", `/api/v1/token/${encodeURIComponent(t.id)}`)))),
      ...given.map((t) => make("li", {}, make("div", {}, make("strong", {}, t.clientId || t.serviceName), make("p", { class: "small" }, "a client that you gave access")), end("Revoke", `the access of ${t.clientId || t.serviceName}`, "Revoked.", () => call("DELETE", `/api/v1/oauth2/token/client/${encodeURIComponent(t.clientId || t.serviceName)}/user/${encodeURIComponent(site.user)}`)))),
    ], "No device or program has a token of yours.");
  };

  byId("profile").addEventListener("submit", tried(async () => {
    try {
      await call("PUT", me, { "entity-type": "user", id: site.user, properties: { username: site.user, ...form.changed() } });
    } catch (error) {
      form.fail(error);
      throw error;
    }
    say("Saved.");
    await profile();
  }));
  byId("password").addEventListener("submit", tried(async (e) => {
    const f = new FormData(e.target);
    if (f.get("newPassword") !== f.get("again")) throw new Error("The new passwords differ.");
    await call("PUT", "/api/v1/me/changepassword", { oldPassword: f.get("oldPassword"), newPassword: f.get("newPassword") });
    location.assign(`${site.prefix}/ui/login?next=${encodeURIComponent("/ui/account")}`);
  }));
  tried(async () => {
    await profile();
    await signedIn();
  })();
})();
