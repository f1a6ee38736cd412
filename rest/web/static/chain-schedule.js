// A schedule for a chain: when it runs, as whom, and with which values. It is written as a text of the family Schedule, which the page
// of administration shows and edits.
"use strict";
const ChainSchedule = (() => {
  const days = [["*", "every day"], ["1-5", "Monday to Friday"], ["1", "Monday"], ["2", "Tuesday"], ["3", "Wednesday"], ["4", "Thursday"], ["5", "Friday"], ["6", "Saturday"], ["0", "Sunday"]];
  const zones = () => (Intl.supportedValuesOf ? ["UTC", ...Intl.supportedValuesOf("timeZone")] : ["UTC"]);

  // text writes the schedule; JSON is YAML.
  const text = (chain, v, params) => {
    const [hour, minute] = (v.time || "02:00").split(":").map(Number);
    const when = v.cron ? { cron: v.cron } : { cron: `${minute} ${hour} * * ${v.days}` };
    const all = { name: v.name, as: v.as, ...when, timezone: v.timezone || "UTC", run: chain, ...(v.input ? { input: v.input } : {}), ...(params ? { params } : {}) };
    return Object.entries(all).map(([k, x]) => `${k}: ${JSON.stringify(x)}`).join("\n") + "\n";
  };

  // open asks for a schedule of a chain, and saves it. outline is that of the chain; given are the values of its test form.
  const open = async (chain, outline, given) => {
    const value = (name) => outline.members.find((m) => m.name === name)?.value;
    const input = value("input");
    const declared = (Array.isArray(value("params")) ? value("params") : []).filter((p) => p?.name);
    const params = Object.fromEntries(declared.map((p) => [p.name, given[`param ${p.name}`] ?? p.default]).filter(([, v]) => v !== undefined && v !== ""));
    const at = make("input", { type: "time", name: "time", value: "02:00", required: true });
    const on = make("select", { name: "days" }, ...days.map(([v, label]) => make("option", { value: v }, label)));
    const zone = make("input", { name: "timezone", value: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC", autocomplete: "off" });
    const form = Form.of([
      { name: "name", kind: "text", required: true, doc: "By it the schedule is found in the administration." },
      { name: "as", label: "As user", kind: "text", required: true, pick: "user", doc: "Whose permissions count." },
      ...(input && input !== "void" ? [{ name: "input", label: "Input", kind: "text", pick: "document", required: !/s$/.test(input), doc: `Path of a document; the chain takes ${input}.` }] : []),
      ...(declared.length ? [{ name: "params", label: "Parameters", kind: "pairs", doc: declared.map((p) => `${p.name}${p.required ? " (required)" : ""}`).join(", ") }] : []),
      { name: "cron", label: "Cron expression instead of time and days", kind: "text", doc: "Minute, hour, day, month, day of the week; such as 0 7 1 * * for the first of each month at 7.", folded: true },
    ], { name: chain, as: site.user, input: given["%input"], params: Object.keys(params).length ? params : undefined }, { folded: "More" });
    const next = make("p", { role: "status", class: "soft" });
    const when = () => ({ time: at.value, days: on.value, timezone: zone.value.trim() });
    const read = () => {
      const v = { ...form.value(), ...when() };
      return [v, text(chain, v, v.params)];
    };
    // preview needs only the times: what else is missing is said when the form is sent. Answers to earlier questions are dropped.
    let asked = 0;
    const preview = async () => {
      const mine = ++asked;
      let says;
      try {
        const source = text("Log", { ...when(), name: "Preview", as: site.user, cron: form.element.querySelector("[name=cron]").value }, { level: "info", message: "x" });
        const found = await run("Schedule.Next", { source, count: 3 });
        says = found.length ? `Next runs: ${found.map((t) => new Date(t).toLocaleString()).join(" · ")}` : "It never runs.";
      } catch (error) {
        says = error.message.replace(/^schedule:\d+:\d+: /, ""); // places in a text that nobody sees
      }
      if (mine === asked) next.textContent = says;
    };
    const box = make("div", {}, make("div", { class: "row" }, make("label", {}, "At ", at), make("label", {}, "On ", on), make("label", {}, "Time zone ", zone, Pick.list(zone, { values: zones() }))), form.element, next);
    box.addEventListener("change", preview);
    preview();
    return Dialogs.open({ title: `Run ${chain} on a schedule`, action: "Save the schedule", wide: true, body: [box], act: async () => {
      const [v, source] = read();
      const taken = (await run("Schedule.List", {})).some((s) => s.name === v.name);
      if (taken) throw new Error(`There is a schedule ${v.name} already. Choose another name, or edit that one in the administration.`);
      const problems = await run("Schedule.Check", { source, name: "schedule.yaml" });
      if (problems.length) throw new Error(problems.map((p) => p.message).join(" · "));
      await run("Schedule.Save", { source });
      return v.name;
    } });
  };

  return { open };
})();
