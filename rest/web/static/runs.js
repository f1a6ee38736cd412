// The console's page of runs.
"use strict";
(() => {
  const at = "/api/v1/automation/runs";
  const none = (columns, text) => [make("tr", {}, make("td", { colspan: columns, class: "soft" }, text))];
  const lasts = (run) => `${(run.duration / 1e9).toFixed(1)} s`;

  const running = (run) => make("tr", {},
    make("td", {}, make("code", {}, run.op)),
    make("td", {}, run.user),
    make("td", {}, make("span", { class: "tag" }, run.door)),
    make("td", { title: run.start }, lasts(run)),
    make("td", {}, make("code", {}, run.requestId || "")),
    make("td", { class: "end" }, make("button", {
      class: "quiet danger", "aria-label": `End ${run.op} of ${run.user}`, onclick: tried(async () => {
        if (!confirm(`Cancel ${run.op} of ${run.user}? All changes of the call are undone.`)) return;
        await call("DELETE", `${at}/${run.id}`);
        await show();
      }),
    }, "Cancel")));

  const open = async (run) => {
    const { answer } = await call("GET", `${at}/${run.id}`);
    const again = (version) => async () => {
      byId("refused").hidden = true;
      try {
        const done = await call("POST", `${at}/${run.id}/retry?version=${version}`);
        byId("whole").textContent = `The call succeeded this time.\n\n${typeof done.answer === "string" ? done.answer : JSON.stringify(done.answer, null, 2)}`;
      } catch (error) {
        byId("refused").textContent = error.message;
        byId("refused").hidden = false;
      }
      await show();
    };
    byId("one-title").textContent = `${answer.op} failed`;
    byId("whole").textContent = JSON.stringify(answer, null, 2);
    byId("refused").hidden = true;
    byId("same").onclick = again("same");
    byId("latest").onclick = again("latest");
    byId("same").hidden = answer.door === "listener";
    byId("same").textContent = answer.version ? "Run again as it was" : "Run again";
    byId("latest").hidden = !answer.version;
    byId("one").showModal();
  };

  const failed = (run) => make("tr", {},
    make("td", {}, ago(run.start)),
    make("td", {}, make("code", {}, run.op), run.version ? make("span", { class: "tag" }, `version ${run.version}`) : null, run.repeats ? make("span", { class: "tag" }, "again") : null),
    make("td", {}, run.user),
    make("td", {}, make("span", { class: "tag bad" }, run.code), make("p", { class: "soft small" }, run.error)),
    make("td", { class: "end" }, make("button", { class: "quiet", "aria-label": `Show the failed run of ${run.op}`, onclick: tried(() => open(run)) }, "Show")));

  const find = async (before) => {
    const query = new URLSearchParams({ state: "failed", limit: 50 });
    for (const [name, value] of new FormData(byId("find"))) {
      if (value && name === "hours") query.set("since", new Date(Date.now() - value * 3600e3).toISOString());
      else if (value) query.set(name, value);
    }
    if (before) query.set("before", before);
    const { answer } = await call("GET", `${at}?${query}`);
    const rows = answer.entries.map(failed);
    if (before) byId("failed").append(...rows);
    else byId("failed").replaceChildren(...(rows.length ? rows : none(5, "No failed runs.")));
    byId("older").parentElement.hidden = !answer.before;
    byId("older").onclick = tried(() => find(answer.before));
  };

  const slow = (query) => make("tr", {},
    make("td", {}, make("code", {}, query.query), query.refused ? make("span", { class: "tag bad" }, `refused ${query.refused} times`) : null),
    make("td", {}, query.count),
    make("td", { title: query.last }, `${(query.longest / 1000).toFixed(1)} s`),
    make("td", {}, `${query.rows} rows, ${query.documents} documents`),
    make("td", {}, query.advice ? make("code", {}, query.advice) : ""));

  // Only administrators may see queries.
  const queries = async () => {
    const { answer: me } = await call("GET", "/api/v1/me");
    const all = me.isAdministrator ? await run("Repository.SlowQueries") : [];
    byId("queries").replaceChildren(...all.map(slow));
    byId("slow").hidden = !all.length;
  };

  const show = async () => {
    const { answer } = await call("GET", at);
    byId("running").replaceChildren(...(answer.entries.length ? answer.entries.map(running) : none(6, "No running calls.")));
    await find();
    await queries();
  };
  byId("find").addEventListener("submit", tried(() => find()));
  byId("again").addEventListener("click", tried(show));
  tried(show)();
})();
