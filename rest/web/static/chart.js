// Small charts of figures over time, as pictures with the same in words.
"use strict";
const Chart = (() => {
  const [wide, high] = [320, 90];
  const draw = (name, attributes, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };

  // of draws a line: points are [time, value], from the oldest; say writes a value.
  const of = (title, points, say) => {
    const values = points.map(([, v]) => v);
    const top = Math.max(...values, 0);
    const [from, to] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
    const at = ([t, v]) => `${(((t - from) / Math.max(1, to - from)) * wide).toFixed(1)} ${(high - (top ? v / top : 0) * (high - 6)).toFixed(1)}`;
    const line = points.map(at).join(" L");
    const svg = draw("svg", { viewBox: `0 0 ${wide} ${high + 2}`, class: "chart", "aria-hidden": "true", preserveAspectRatio: "none" });
    if (points.length > 1) svg.append(draw("path", { class: "area", d: `M0 ${high} L${line} L${wide} ${high} Z` }), draw("path", { class: "line", d: `M${line}` }));
    const now = values.length ? say(values.at(-1)) : "nothing yet";
    return make("figure", { class: "figure panel" }, make("figcaption", {}, make("span", {}, title), make("strong", {}, now)), svg,
      make("p", { class: "soft small" }, values.length ? `at most ${say(top)} since ${new Date(from).toLocaleString(undefined, { hour: "2-digit", minute: "2-digit", weekday: "short" })}` : "The first figure comes after five minutes."));
  };

  return { of };
})();
