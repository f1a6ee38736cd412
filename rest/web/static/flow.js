// What the pages about workflows share: what labels say, the graph as a picture, and fields that name people.
"use strict";
const Flow = (() => {
  let texts = {};

  // read loads what the labels of workflows say in the language of the browser.
  const read = async () => {
    texts = await run("WorkflowModel.Texts", { language: navigator.language });
  };
  // words makes a name readable: end_date, validationOrReview.
  const words = (name) => {
    const text = name.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
    return text[0].toUpperCase() + text.slice(1);
  };

  // say is what a label says; without one the name it stands for has to do.
  const say = (label, name = "") => texts[label] || (label !== name && label) || (name ? words(name) : "");

  const plain = (actor) => actor.replace(/^(user|group):/, "");

  const draw = (name, attributes, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };

  // lines breaks a title for a box.
  const lines = (text) => text.split(" ").reduce((out, word) => {
    const last = out.length - 1;
    if (last >= 0 && out[last].length + word.length < 22) out[last] += ` ${word}`;
    else out.push(word);
    return out;
  }, []).slice(0, 3);

  const [wide, high] = [160, 60];
  const states = { suspended: "waits for people", waiting: "waits for other steps" };

  const box = (n) => {
    const title = lines(say(n.title, n.id));
    const g = draw("g", { class: `node ${n.state}${n.isEndNode ? " end" : ""}${n.isStartNode ? " start" : ""}` },
      draw("rect", { x: n.x, y: n.y, width: wide, height: high, rx: n.isEndNode ? high / 2 : 10 }));
    title.forEach((text, i) => g.append(draw("text", { x: n.x + wide / 2, y: n.y + high / 2 + 5 + (i - (title.length - 1) / 2) * 16 }, text)));
    if (n.count) g.append(draw("circle", { class: "count", cx: n.x + wide, cy: n.y, r: 14 }), draw("text", { class: "count", x: n.x + wide, y: n.y + 5 }, String(n.count)));
    return g;
  };

  // line leads from a node to another: straight ahead, below all nodes on the way back, above a node to itself.
  const line = (a, b, end) => {
    const [ax, bx, ay, by] = [a.x + wide / 2, b.x + wide / 2, a.y + high / 2, b.y + high / 2];
    let path = `M${a.x + wide} ${ay} L${b.x} ${by}`;
    if (a === b) path = `M${ax + 30} ${a.y} C${ax + 30} ${a.y - 34} ${ax - 30} ${a.y - 34} ${ax - 30} ${a.y}`;
    else if (b.x < a.x) path = `M${ax} ${a.y + high} C${ax} ${a.y + high + 70} ${bx} ${b.y + high + 70} ${bx} ${b.y + high}`;
    else if (b.x === a.x) path = `M${ax} ${b.y > a.y ? a.y + high : a.y} L${bx} ${b.y > a.y ? b.y : b.y + high}`;
    return draw("path", { d: path, "marker-end": `url(#${end})` });
  };

  // picture draws a graph, with the same in words for those who do not see it.
  const picture = (graph, title) => {
    const at = Object.fromEntries(graph.nodes.map((n) => [n.id, n]));
    const right = Math.max(...graph.nodes.map((n) => n.x)) + wide + 40;
    const low = Math.max(...graph.nodes.map((n) => n.y)) + high + 70;
    const end = `arrow-${graph.nodes[0].id}`;
    const svg = draw("svg", { viewBox: `0 -10 ${right} ${low + 10}`, width: right, height: low + 10, "aria-hidden": "true" },
      draw("defs", {}, draw("marker", { id: end, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto" }, draw("path", { d: "M0 0 L10 5 L0 10 z" }))),
      ...graph.transitions.map((t) => line(at[t.nodeSourceId], at[t.nodeTargetId], end)), ...graph.nodes.map(box));
    const next = (n) => [...new Set(graph.transitions.filter((t) => t.nodeSourceId === n.id).map((t) => say(at[t.nodeTargetId].title, t.nodeTargetId)))].join(", ");
    return make("figure", { class: "graph" }, make("figcaption", { class: "only-read" }, title), make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": title }, svg),
      make("ol", { class: "only-read" }, ...graph.nodes.map((n) => make("li", {}, `${say(n.title, n.id)}${states[n.state] ? `, ${states[n.state]}` : ""}${n.count ? `, ${n.count} wait here` : ""}${next(n) ? `; leads to ${next(n)}` : ""}`))));
  };

  // find looks for users and groups.
  const find = async (q) => {
    const named = async (what, key) => (await call("GET", `/api/v1/${what}/search?pageSize=8&q=${encodeURIComponent(q)}`)).answer.entries.map((one) => `${what}:${one[key]}`);
    return (await Promise.all([named("user", "id"), named("group", "groupname")])).flat();
  };

  // people is a field for names of users and groups, in their order; value gives them.
  const people = (label, names = []) => {
    const chosen = make("ol", { class: "chosen", "aria-label": label });
    const found = make("div", { class: "row", role: "group", "aria-live": "polite", "aria-label": "Found" });
    const input = make("input", { autocomplete: "off", "aria-label": `${label}: name of a user or group`, placeholder: "Name" });
    const add = (name) => {
      const item = make("li", {}, make("span", { class: "tag" }, plain(name)), make("button", {
        type: "button", class: "quiet", "aria-label": `Remove ${plain(name)}`, onclick: () => (item.remove(), input.focus()),
      }, "Remove"));
      item.dataset.name = name;
      chosen.append(item);
      input.value = "";
      found.replaceChildren();
    };
    const take = () => input.value.trim() && add(input.value.trim());
    input.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || !input.value.trim()) return;
      e.preventDefault();
      take();
    });
    input.addEventListener("input", async () => {
      const q = input.value.trim();
      const all = q.length < 2 ? [] : await find(q).catch(() => []);
      if (q === input.value.trim()) found.replaceChildren(...all.map((name) => make("button", { type: "button", onclick: () => (add(name), input.focus()) }, plain(name))));
    });
    names.forEach(add);
    const element = make("div", { class: "people" }, chosen, make("div", { class: "row" }, input, make("button", { type: "button", onclick: take }, "Add"), found));
    return { element, value: () => (take(), [...chosen.children].map((item) => item.dataset.name)) };
  };

  return { read, say, words, plain, picture, people };
})();
