// Writes locales.json, the data of CLDR that the formatters need, as the ICU of node has it. Usage: node testdata/locales.mjs
import { writeFileSync } from "node:fs";

const locales = ["en", "en-GB", "en-IE", "de", "de-AT", "de-CH", "fr", "fr-BE", "fr-CH", "it", "it-CH", "es", "pt", "pt-PT", "nl", "nl-BE", "da", "sv", "nb",
  "fi", "pl", "cs", "sk", "hu", "ro", "bg", "hr", "sl", "sr", "et", "lv", "lt", "el", "tr", "uk", "ru", "ga", "ca"];
const currencies = ["EUR", "USD", "GBP", "CHF", "SEK", "DKK", "NOK", "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "UAH", "RUB", "RSD", "JPY", "CNY", "CAD", "AUD"];
const units = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
export const n = "numeric", d2 = "2-digit", s = "short", l = "long";
const dates = [{ year: n, month: n, day: n }, { year: n, month: d2, day: d2 }, { year: d2, month: d2, day: d2 }, { year: n, month: s, day: n }, { year: n, month: l, day: n },
  { weekday: l, year: n, month: l, day: n }, { weekday: s, year: n, month: s, day: n }, { weekday: s, year: n, month: n, day: n }, { weekday: l, month: l, day: n },
  { year: n, month: l }, { year: n, month: s }, { year: n, month: d2 }, { year: n, month: n }, { month: l, day: n }, { month: s, day: n }, { month: n, day: n }, { month: d2, day: d2 },
  { month: l }, { month: s }, { weekday: l }, { weekday: s }, { year: n }, { day: n }, { day: d2 }, { month: n }, { month: d2 }];
const times = [{ hour: n, minute: n, second: n }, { hour: d2, minute: d2, second: d2 }, { hour: d2, minute: d2 }, { hour: n, minute: n }, { hour: n, minute: d2 }, { hour: n }];
export const combos = [...dates, ...times];
for (const d of dates.slice(0, 6)) for (const t of times.slice(0, 5)) combos.push({ ...d, ...t });
for (const dateStyle of [undefined, "full", "long", "medium", "short"]) for (const timeStyle of [undefined, "medium", "short"]) if (dateStyle || timeStyle) combos.push({ dateStyle, timeStyle });
export const keyOf = o => ["dateStyle", "timeStyle", "weekday", "year", "month", "day", "hour", "minute", "second"].filter(k => o[k]).map(k => k + ":" + o[k]).join();

const out = {};
for (const locale of locales) {
  const of = { names: [], dates: {}, symbols: {}, relative: {} };
  const at = (o, ms) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...o }).formatToParts(ms);
  const names = list => {
    const text = list.join("|");
    let i = of.names.findIndex(x => x.join("|") === text);
    if (i < 0) i = of.names.push(list) - 1;
    return i;
  };
  const pattern = o => {
    const value = (ms, i) => at(o, ms)[i].value;
    return at(o, Date.UTC(2003, 0, 5, 4, 5, 6)).map((p, i) => {
      switch (p.type) {
      case "literal": return p.value.replaceAll("\u202f", " "); // as V8 does in dates
      case "year": return [p.value.length === 2 ? "yy" : "y"];
      case "day": return [p.value.length === 2 ? "dd" : "d"];
      case "minute": return ["mm"].map(x => (p.value.length === 2 ? x : "m"));
      case "second": return [p.value.length === 2 ? "ss" : "s"];
      case "hour": {
        const late = value(Date.UTC(2003, 0, 5, 16, 5, 6), i);
        return [(late === "16" ? "H" : "h").repeat(p.value.length)];
      }
      case "month": {
        if (/^\d+$/.test(p.value)) return [p.value.length === 2 ? "MM" : "M"];
        return ["N", names(Array.from({ length: 12 }, (_, m) => value(Date.UTC(2003, m, 5, 4), i)))];
      }
      case "weekday": return ["E", names(Array.from({ length: 7 }, (_, d) => value(Date.UTC(2003, 0, 5 + d, 4), i)))];
      case "dayPeriod": return ["a", names([4, 16].map(h => value(Date.UTC(2003, 0, 5, h), i)))];
      }
      throw new Error(locale + " " + p.type);
    });
  };
  for (const o of combos) of.dates[keyOf(o)] = pattern(o);
  const parts = (o, v) => new Intl.NumberFormat(locale, o).formatToParts(v);
  const find = (list, type) => list.find(p => p.type === type)?.value ?? "";
  const large = parts({}, -1234567.5);
  of.decimal = find(large, "decimal"); of.group = find(large, "group"); of.minus = find(large, "minusSign"); of.nan = find(parts({}, NaN), "nan");
  of.least = find(parts({}, 1234), "group") ? 1 : 2; // digits before the first group
  const shape = (o, v) => parts(o, v).filter(p => !["group", "decimal", "fraction"].includes(p.type)).reduce((list, p) => {
    const x = p.type === "integer" ? "#" : p.type === "currency" ? "¤" : p.value;
    if (!(x === "#" && list.at(-1) === "#")) list.push(x);
    return list;
  }, []).join("");
  of.percent = [shape({ style: "percent" }, 0.5), shape({ style: "percent" }, -0.5)];
  of.currency = [shape({ style: "currency", currency: "EUR" }, 1), shape({ style: "currency", currency: "EUR" }, -1)];
  of.code = [shape({ style: "currency", currency: "XXQ" }, 1), shape({ style: "currency", currency: "XXQ" }, -1)];
  const money = parts({ style: "currency", currency: "EUR" }, -1234567.5);
  of.moneyDecimal = find(money, "decimal"); of.moneyGroup = find(money, "group");
  for (const c of currencies) {
    of.symbols[c] = find(parts({ style: "currency", currency: c }, 1), "currency");
  }
  for (const unit of units) {
    const plural = new Intl.PluralRules(locale), always = new Intl.RelativeTimeFormat(locale), auto = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
    const forms = [{}, {}], words = {};
    for (const v of [1, 2, 3, 5, 11, 21, 100, 1000000, 0, 1.5, 0.5, 10.1]) for (const sign of [0, 1]) {
      const p = always.formatToParts(sign ? v : -v, unit), first = p.findIndex(x => x.type !== "literal");
      const last = p.findLastIndex(x => x.type !== "literal");
      forms[sign][plural.select(v)] ??= p.slice(0, first).map(x => x.value).join("") + "#" + p.slice(last + 1).map(x => x.value).join("");
    }
    for (const v of [-2, -1, 0, 1, 2]) { const t = auto.format(v, unit); if (t !== always.format(v, unit)) words[v] = t; }
    of.relative[unit] = [forms[0], forms[1], words];
  }
  out[locale] = of;
}
if (process.argv[1].endsWith("locales.mjs")) writeFileSync("locales.json", "{\n" + Object.entries(out).map(([k, v]) => JSON.stringify(k) + ":" + JSON.stringify(v)).join(",\n") + "\n}\n");
