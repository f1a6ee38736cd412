// The steps of a chain as cards: lists of steps with branches within them, drawn from the outline that the server makes of
// the text. What a person does becomes an edit of the text.
"use strict";
const ChainCards = (() => {
  const open = new Set(); // paths of the steps whose forms are shown
  let all = []; // the cards as they are drawn, in order
  let lanes = []; // the lists of steps: path, title, length

  const titles = { then: "Then", else: "Else", steps: "For each item", default: "Otherwise" };

  // brief says in a line what a step does.
  const brief = (card) => {
    const value = (name) => card.members.find((m) => m.name === name)?.value;
    const text = (v) => (v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));
    if (card.kind === "operation") return card.params.filter((p) => p.value !== "").map((p) => `${p.name}: ${text(p.value)}`).join(" · ");
    if (card.kind === "wait" && typeof value("wait") === "object") return Object.entries(value("wait") || {}).map(([name, v]) => `${name}: ${text(v)}`).join(" · ");
    return text(value(card.kind));
  };

  const label = (card, outline) => {
    if (card.kind !== "operation") return { if: "If", switch: "Switch", each: "For each", parallel: "Parallel", wait: "Wait", return: "Return" }[card.kind];
    return outline.operations[card.op]?.label || card.op || "Step without an operation";
  };

  const last = (path) => Number(path.slice(path.lastIndexOf("/") + 1));
  const list = (path) => path.slice(0, path.lastIndexOf("/"));

  // change is what a step of a dry run changed.
  const change = (c) => make("li", {}, make("span", { class: "tag good" }, c.kind), ` ${[c.type, c.path, c.note].filter(Boolean).join(" · ")}`);

  // actions are what can be done with a step.
  const actions = (card, page) => {
    const at = last(card.path);
    const here = lanes.find((l) => l.path === list(card.path));
    const act = (name, title, f, disabled = false) => make("button", { type: "button", class: "quiet", "data-key": `${card.path} ${name}`, disabled, onclick: f }, title);
    const move = (to, next) => {
      open.clear();
      open.add(next);
      return page.edit({ action: "move", path: card.path, to }, `${next} open`);
    };
    const others = lanes.filter((l) => l.path !== here.path && !l.path.startsWith(`${card.path}/`));
    const where = make("select", { "aria-label": `Move step ${number(card)} to`, onchange: (e) => move(e.target.value, e.target.value) }, make("option", { value: "" }, "Move to…"), ...others.map((l) => make("option", { value: `${l.path}/${l.length}` }, l.title)));
    return make("div", { class: "acts row" },
      act("up", "Move up", () => move(`${here.path}/${at - 1}`, `${here.path}/${at - 1}`), at === 0),
      act("down", "Move down", () => move(`${here.path}/${at + 2}`, `${here.path}/${at + 1}`), at + 1 >= here.length),
      others.length ? where : null,
      act("below", "Add below", () => page.add(`${here.path}/${at + 1}`)),
      act("again", "Duplicate", () => page.edit({ action: "duplicate", path: card.path })),
      act("text", "Show in the text", () => page.show(card.line, card.column)),
      make("button", { type: "button", class: "quiet danger", onclick: () => {
        open.clear();
        page.edit({ action: "remove", path: card.path }, `${here.path} add`);
      } }, "Delete"));
  };

  const number = (card) => all.indexOf(card) + 1;

  // branch is one list of steps within a step.
  const branch = (lane, card, outline, page) => {
    const title = lane.named ? lane.name : titles[lane.name] || lane.name;
    const edits = lane.named ? [
      make("label", { class: "lane-name" }, make("span", { class: "only-read" }, card.kind === "switch" ? "Value of the case" : "Name of the branch"), make("input", {
        value: lane.name, "data-key": `${lane.path} name`, autocomplete: "off",
        onchange: (e) => e.target.value.trim() && page.edit({ action: "rename", path: lane.path, to: `${list(lane.path)}/${e.target.value.trim().replaceAll("~", "~0").replaceAll("/", "~1")}` }),
      })),
      make("button", { type: "button", class: "quiet danger", "aria-label": `Delete ${title}`, onclick: () => page.edit({ action: "remove", path: lane.path }) }, "Delete"),
    ] : [make("h3", {}, title)];
    return make("section", { class: "lane", "aria-label": `${title} of step ${number(card)}` }, make("div", { class: "lane-head" }, ...edits), steps(lane.path, lane.steps, outline, page));
  };

  const body = (card, outline, page) => {
    const more = card.kind === "switch" || card.kind === "parallel";
    const key = card.kind === "switch" ? "cases" : "parallel";
    const fresh = () => {
      for (let n = card.branches.length; ; n++) if (!card.branches.some((b) => b.name === `branch${n}`)) return `branch${n}`;
    };
    const form = make("div", { class: "body", id: `form-${number(card)}` }, ChainForm.step(card, outline, page.edit),
      more ? make("button", { type: "button", class: "quiet", onclick: () => page.edit({ action: "set", path: `${card.path}/${key}/${fresh()}`, value: [] }) }, card.kind === "switch" ? "Add a case" : "Add a branch") : null,
      actions(card, page));
    return form;
  };

  const step = (card, outline, page) => {
    const shown = open.has(card.path);
    const text = brief(card);
    const member = (name) => card.members.find((m) => m.name === name)?.value;
    const bad = card.problems.filter((p) => !p.warning);
    const head = make("button", {
      type: "button", class: "title", "data-key": `${card.path} open`, "aria-expanded": String(shown), "aria-controls": shown ? `form-${number(card)}` : null,
      onclick: () => {
        if (!open.delete(card.path)) open.add(card.path);
        page.draw();
      },
    }, make("span", { class: "place" }, String(number(card))), make("span", { class: "what" }, make("strong", {}, label(card, outline)), text ? make("span", { class: "soft" }, text) : null));
    const tags = [card.op && card.op !== label(card, outline) ? make("code", {}, card.op) : null, member("when") ? make("span", { class: "tag" }, "only when ", String(member("when"))) : null, member("as") ? make("span", { class: "tag" }, `as ${member("as")}`) : null,
      bad.length ? make("span", { class: "tag bad" }, bad.length === 1 ? "1 problem" : `${bad.length} problems`) : null, card.problems.length > bad.length ? make("span", { class: "tag" }, "warning") : null].filter(Boolean);
    // What its form shows at a field is not shown twice.
    const field = (p) => shown && (card.kind === "operation" ? outline.operations[card.op]?.schema.properties?.[p.param] : p.param?.split("/")[0] === card.kind);
    const wrongs = card.problems.filter((p) => !field(p));
    const did = page.did(card);
    return make("li", { class: `step${bad.length ? " bad" : ""}`, "data-step": card.line, "data-path": card.path, "data-kind": card.kind },
      head, tags.length ? make("div", { class: "tags" }, ...tags) : null,
      wrongs.length ? make("ul", { class: "wrongs" }, ...wrongs.map((p) => make("li", {}, make("button", { type: "button", class: p.warning ? "problem" : "alert problem", "data-line": p.line, onclick: () => page.show(p.line, p.column) }, ChainForm.brief(p))))) : null,
      did ? make("ul", { class: "did", "aria-label": `Dry run of step ${number(card)}` }, ...(did.error ? [make("li", { class: "wrong" }, did.error)] : did.changes.length ? did.changes.map(change) : [make("li", { class: "soft" }, did.times ? "Changes nothing." : "Did not run.")])) : null,
      shown ? body(card, outline, page) : null,
      card.branches.length ? make("div", { class: "lanes" }, ...card.branches.map((lane) => branch(lane, card, outline, page))) : null);
  };

  // steps is a list of steps, and the button that adds one at its end.
  const steps = (path, cards, outline, page) => make("div", { class: "track" },
    make("ol", {}, ...cards.map((card) => step(card, outline, page))),
    make("button", { type: "button", class: "add", "data-key": `${path} add`, "data-add": path, "aria-label": path === outline.path ? "Add a step" : `Add a step to ${lanes.find((l) => l.path === path).title}`, onclick: () => page.add(path) }, "+ Add a step"));

  // collect numbers the cards and their lists in the order of the text.
  const collect = (path, title, cards) => {
    lanes.push({ path, title, length: cards.length });
    for (const card of cards) {
      all.push(card);
      const n = all.length;
      for (const lane of card.branches) collect(lane.path, `${lane.named ? lane.name : titles[lane.name] || lane.name} of step ${n}`, lane.steps);
    }
  };

  // draw shows an outline. page offers edit, add, show, draw, and did: what a dry run did at a step.
  const draw = (into, outline, page) => {
    all = [];
    lanes = [];
    collect(outline.path, "the chain", outline.steps);
    into.replaceChildren(...outline.problems.map((p) => make("p", { class: "alert" }, ChainForm.brief(p), " ", make("button", { type: "button", class: "quiet", "data-line": p.line, onclick: () => page.show(p.line, p.column) }, `Line ${p.line}`))), steps(outline.path, outline.steps, outline, page));
  };

  // end is the path behind the last step of a list.
  const end = (path) => `${path}/${lanes.find((l) => l.path === path)?.length || 0}`;

  return { draw, end, numbered: (n) => all[n - 1], open: (path) => open.add(path), close: () => open.clear(), brief };
})();
