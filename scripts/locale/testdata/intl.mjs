// Writes intl.golden.json: what node answers to expressions in all locales. Usage: node intl.mjs
import { readFileSync, writeFileSync } from "node:fs";

const data = JSON.parse(readFileSync("../locales.json", "utf8")), expressions = [];
const add = (...all) => expressions.push(...all);
const numbers = "[0, -0, 1, -1, 0.5, 1.005, 1234.5, -1234567.891, 12345, 999.9996, 1e21, 1.5e-7, NaN, -Infinity, 12345678901234567890n]";
const numberOptions = ["{}", "{maximumFractionDigits: 0}", "{minimumFractionDigits: 2}", "{style: 'percent', maximumFractionDigits: 1}", "{style: 'currency', currency: 'EUR'}",
  "{style: 'currency', currency: 'USD'}", "{style: 'currency', currency: 'CHF'}", "{style: 'currency', currency: 'JPY'}", "{style: 'currency', currency: 'PLN', currencyDisplay: 'code'}",
  "{maximumSignificantDigits: 3}", "{minimumSignificantDigits: 4}", "{useGrouping: false}", "{signDisplay: 'always'}", "{signDisplay: 'never'}", "{signDisplay: 'exceptZero'}", "{minimumIntegerDigits: 3}"];
const dates = "[1e12, 1792145107000, 0]";
for (const [locale, of] of Object.entries(data)) {
  const l = JSON.stringify(locale);
  for (const o of numberOptions) add(`${o.includes("currency") ? numbers.replace(", NaN, -Infinity", "") : numbers}.map(new Intl.NumberFormat(${l}, ${o}).format)`);
  for (const key of Object.keys(of.dates)) {
    const o = Object.fromEntries(key.split(",").map(p => p.split(":")));
    add(`${dates}.map(new Intl.DateTimeFormat(${l}, ${JSON.stringify(o)}).format)`);
  }
  add(`new Date(1e12).toLocaleString(${l}, {timeZone: "Europe/Berlin"})`, `new Date(1e12).toLocaleDateString(${l})`, `new Date(1e12).toLocaleTimeString(${l})`,
    `new Date(1e12).toLocaleDateString(${l}, {dateStyle: "long"})`, `(1234.5).toLocaleString(${l})`);
  for (const unit of ["second", "minute", "hours", "day", "weeks", "month", "quarter", "year"]) for (const numeric of ["always", "auto"]) {
    add(`[-1000, -5, -2, -1.5, -1, -0, 0, 1, 2, 3, 4, 5, 11, 21, 22, 101].map(v => new Intl.RelativeTimeFormat(${l}, {numeric: "${numeric}"}).format(v, "${unit}"))`);
  }
  add(`Array.from({length: 130}, (_, n) => new Intl.PluralRules(${l}).select(n)).join()`, `[0.5, 1.5, 2.1, 10.1].map(n => new Intl.PluralRules(${l}).select(n))`);
  add(`["Zebra", "äpfel", "Apfel", "öl", "Oslo", "zoo", "Éclair", "eclair", "ale", "Ål", "cote", "côte", "a10", "a9"].sort(new Intl.Collator(${l}).compare)`);
  add(`["a10", "a9", "a1", "b"].sort(new Intl.Collator(${l}, {numeric: true}).compare)`, `["a".localeCompare("B", ${l}), "a".localeCompare("á", ${l}), "ä".localeCompare("z", ${l})]`);
}
add(`new Intl.DateTimeFormat("de", {dateStyle: "full"}).formatToParts(0)`, `Intl.getCanonicalLocales(["DE-de", "en-us"])`, `Intl.NumberFormat.supportedLocalesOf(["de-DE", "fr"])`,
  `new Intl.NumberFormat("de-DE").resolvedOptions().locale`, `["i".toLocaleUpperCase("tr"), "I".toLocaleLowerCase("tr"), "straße".toLocaleUpperCase("de"), "i".toLocaleUpperCase()]`,
  `[1234.5, null, new Date(0)].toLocaleString("de", {timeZone: "UTC"})`, `12345678901234567890n.toLocaleString("de")`, `new Date(NaN).toLocaleString("de")`,
  `Array.from({length: 30}, (_, n) => new Intl.PluralRules("en", {type: "ordinal"}).select(n)).join()`, `["a".localeCompare("A", "de", {sensitivity: "base"}), "a".localeCompare("ä", "de", {sensitivity: "base"}), "a".localeCompare("b"), "a".localeCompare("ä", "de", {sensitivity: "accent"}) !== 0]`,
  `new Date(1e12).toLocaleString("en", {timeZone: "America/New_York"})`, `new Intl.DateTimeFormat("en", {timeZone: "Asia/Kolkata", timeStyle: "short"}).format(0)`);
const rows = expressions.map(e => {
  const v = (0, eval)(e.replaceAll(/new Intl\.DateTimeFormat\(("[^"]+"), \{(?!"?timeZone|timeZone)/g, 'new Intl.DateTimeFormat($1, {timeZone: "UTC", ').replaceAll(/toLocale(Date|Time)String\(("[^"]+")\)/g, 'toLocale$1String($2, {timeZone: "UTC"})')
    .replaceAll('{dateStyle: "long"}', '{dateStyle: "long", timeZone: "UTC"}'));
  return JSON.stringify([e, v]);
});
writeFileSync("intl.golden.json", "[\n" + rows.join(",\n") + "\n]\n");
