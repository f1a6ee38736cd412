// The console's page of one's team: who is in it, and the decks its members share.
"use strict";
(() => {
  let team = null;
  const leads = () => team.role === "owner" || team.role === "admin";

  const member = (m) => {
    const mine = m.username === site.user;
    const owner = team.role === "owner";
    const change = make("select", {
      "aria-label": `Role of ${m.name}`, disabled: mine || (!owner && m.role === "owner"), onchange: tried(async (e) => {
        const role = e.target.value;
        if (role === "owner" && !confirm(`Make ${m.name} the owner? You become an admin.`)) return show();
        try {
          await run("Team.SetMember", { id: team.id, username: m.username, role });
        } finally {
          await show();
        }
      }),
    }, ...["owner", "admin", "member"].filter((r) => owner || r !== "owner" || m.role === "owner").map((r) => make("option", { selected: r === m.role }, r)));
    return make("li", {},
      make("div", {}, make("strong", {}, m.name), make("p", {}, m.username, mine ? " · you" : "")),
      make("span", {}, change),
      make("button", {
        class: "quiet danger", disabled: mine || m.role === "owner", "aria-label": `Remove ${m.name} from the team`, onclick: tried(async () => {
          if (!confirm(`Remove ${m.name} from the team? Decks shared with the team become private.`)) return;
          await run("Team.RemoveMember", { id: team.id, username: m.username });
          await show();
        }),
      }, "Remove"));
  };

  const draw = (decks) => {
    const seen = { all: "everyone", team: "the team" };
    byId("list").replaceChildren(...(decks.length ? decks.map((d) => make("li", {},
      make("div", {}, make("a", { href: new URL(d.url).pathname }, make("strong", {}, d.title)), make("p", {}, `by ${d.owner.name}${d.description ? ` · ${d.description}` : ""}`)),
      make("span", { class: "tag" }, `for ${seen[d.visibility] || d.visibility}`))) : [make("li", { class: "soft" }, "No deck is shared with the team yet. Set “Who may see it” to “Your team” in a deck’s details.")]));
  };
  const shared = pager({ ask: numbered("/v1/team/decks", 20), draw });

  const show = async () => {
    const got = await run("Deck.Account");
    team = got.data.team;
    byId("none").hidden = team !== null;
    byId("role").textContent = team ? `You are ${{ owner: "the owner", admin: "an admin", member: "a member" }[team.role]}.` : "";
    if (!team) return;
    byId("name").textContent = team.name;
    byId("people").hidden = byId("shared").hidden = !leads();
    if (!leads()) {
      byId("role").textContent += " The team’s owner and its admins see members and decks here.";
      return;
    }
    const answer = await run("Team.Get", { id: team.id });
    const { members } = answer.data;
    byId("members").replaceChildren(...members.map(member));
    byId("people-title").textContent = members.length === 1 ? "1 member" : `${members.length} members`;
    await shared.show();
  };

  tried(show)();
})();
