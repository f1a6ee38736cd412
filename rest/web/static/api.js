// What the scripts of our own pages share: calls of the server, elements, times.
"use strict";
const site = document.body.dataset;

class Refused extends Error {
  constructor(status, body) {
    const details = (body.errors || body.violations || []).map((e) => e.message || e.detail).filter(Boolean);
    const text = details.length ? details.join(" · ") : body.detail || body.message || `The server responded with status ${status}.`;
    super(text.replace(/^(?:Failed to invoke operation:? [\w.]+, )+/, ""));
    this.status = status;
    this.code = body.code;
    this.subject = body.subject; // the name of what stands against the call
    // fields are the fields that the answer names, each with what is wrong with it.
    this.fields = [
      ...(body.errors || []).filter((e) => e.pointer).map((e) => [e.pointer.replace(/^#\//, ""), e.detail || e.message || text]),
      ...(body.violations || []).map((v) => [v.path.map((p) => p.field_name).join("/"), v.message]),
    ].map(([field, said]) => [field, said.replace(/^property \S+: /, "")]);
  }
}

// call asks the server; a session that has expired leads to signing in again. A body is JSON, or a form with files.
const call = async (method, path, body, headers = {}) => {
  const whole = body === undefined || body instanceof FormData;
  const response = await fetch(site.prefix + path, {
    method, headers: { "X-CSRF-Token": site.csrf, Accept: "application/json", ...(whole ? {} : { "Content-Type": "application/json" }), ...headers },
    body: whole ? body : JSON.stringify(body), credentials: "same-origin",
  });
  const type = response.headers.get("Content-Type") || "";
  const answer = type.includes("json") ? await response.json() : await response.text();
  if (response.ok) return { answer, etag: response.headers.get("ETag"), status: response.status, type };
  throw new Refused(response.status, typeof answer === "object" && answer !== null ? answer : {});
};

// bare takes a result out of what the server wraps maps, lists and values in.
const bare = (answer) => (answer && typeof answer === "object" && "entity-type" in answer && "value" in answer ? answer.value : answer);

// run carries out an operation.
const run = async (name, params, input) => bare((await call("POST", `/api/v1/automation/${encodeURIComponent(name)}`, { params, input })).answer);

// withFile is the body of a call whose input is a file.
const withFile = (file, params) => {
  const body = new FormData();
  body.append("request", new Blob([JSON.stringify({ params })], { type: "application/json" }));
  body.append("input", file, file.name);
  return body;
};

// upload carries out an operation whose input is a file.
const upload = async (name, file, params) => bare((await call("POST", `/api/v1/automation/${name}`, withFile(file, params))).answer);

// make builds an element; text never becomes HTML.
const make = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
};

const byId = (id) => document.getElementById(id);

const date = (at) => at.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
const moment = (text) => {
  if (!text) return "";
  const at = new Date(text);
  return make("time", { datetime: text, title: at.toLocaleString() }, date(at));
};

// ago says how long ago something was, or in how long it will be, if that is not long.
const ago = (text) => {
  const e = moment(text);
  if (!e) return "";
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const minutes = (new Date(text) - Date.now()) / 60e3;
  const size = Math.abs(minutes);
  if (size < 1) e.textContent = minutes > 0.5 ? "in a minute" : "just now";
  else if (size < 60) e.textContent = words.format(Math.trunc(minutes), "minute");
  else if (size < 24 * 60) e.textContent = words.format(Math.trunc(minutes / 60), "hour");
  else if (size < 7 * 24 * 60) e.textContent = words.format(Math.trunc(minutes / 60 / 24), "day");
  return e;
};

// complain shows an error to the user.
const complain = (error) => {
  const box = byId("message");
  if (error instanceof Refused && error.status === 401 && !error.fields.length) { // a wrong old password does not end the session
    box.replaceChildren("Your session has expired. ", make("a", { href: `${site.prefix}/ui/login?next=${encodeURIComponent(location.pathname)}` }, "Sign in again"));
  } else {
    box.textContent = error.message;
  }
  box.hidden = false;
  const done = byId("done");
  if (done) done.hidden = true; // what went well before
};
const calm = () => {
  for (const id of ["message", "done"]) if (byId(id)) byId(id).hidden = true;
};

// tried runs what a person started, and shows what goes wrong.
const tried = (f, prevent = true) => async (event) => {
  if (prevent) event?.preventDefault?.();
  calm();
  try {
    await f(event);
  } catch (error) {
    complain(error);
  }
};

// disabling returns what f does, which runs with its buttons disabled, so that it is not begun again before its end, and keeps the focus.
const disabling = async (buttons, f) => {
  const old = document.activeElement;
  for (const b of buttons) b.disabled = true;
  try {
    return await f();
  } finally {
    for (const b of buttons) b.disabled = false;
    if (document.activeElement === document.body && buttons.includes(old)) old.focus({ preventScroll: true }); // what is disabled loses it
  }
};

// copy has a button put text on the clipboard.
const copy = (text) => tried(async (e) => {
  await navigator.clipboard.writeText(text);
  (e.target.closest("button").lastElementChild || e.target).textContent = "Copied";
});

// span writes a duration of Go, such as 720h0m0s, in words.
const span = (text) => {
  const n = (unit) => Number(new RegExp(`([0-9.]+)${unit}(?![a-z])`).exec(text)?.[1] || 0);
  const minutes = n("h") * 60 + n("m");
  const words = (v, unit) => (v === 1 ? unit : `${v} ${unit}s`);
  if (n("s") || !minutes) return text;
  return minutes % 1440 === 0 ? words(minutes / 1440, "day") : minutes % 60 === 0 ? words(minutes / 60, "hour") : words(minutes, "minute");
};

// lasts writes a duration in nanoseconds.
const lasts = (ns) => (ns < 1e6 ? `${Math.round(ns / 1e3)} µs` : ns < 1e9 ? `${Math.round(ns / 1e6)} ms` : `${(ns / 1e9).toFixed(1)} s`);

// On a phone the list of pages is wider than the screen: the present one is to be seen in it.
document.querySelector("header nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
