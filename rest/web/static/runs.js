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
        if (!confirm(`End ${run.op} of ${run.user}? Nothing of the call is kept.`)) return;
        await call("DELETE", `${at}/${run.id}`);
        await show();
      }),
    }, "End")));

  const show = async () => {
    const { answer } = await call("GET", at);
    byId("running").replaceChildren(...(answer.entries.length ? answer.entries.map(running) : none(6, "Nothing runs now.")));
  };
  byId("again").addEventListener("click", tried(show));
  tried(show)();
})();
