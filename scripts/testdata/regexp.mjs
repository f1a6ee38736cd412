// Writes regexp.golden.json: what regular expressions with property escapes match in V8. Usage: node regexp.mjs NAMES.json,
// where NAMES.json lists the properties by group.
import { readFileSync, writeFileSync } from "node:fs";

const groups = JSON.parse(readFileSync(process.argv[2], "utf8"));
// Not among them: characters whose properties have changed since the Unicode version of Go, such as U+200D.
const codes = [];
const add = (...list) => codes.push(...list);
for (let c = 0x20; c < 0x180; c += c < 0x7f ? 3 : 5) add(c);
add(0, 9, 0xa, 0x41, 0x5a, 0x61, 0x7a, 0x6b, 0x73, 0x4b, 0x53, 0x7f, 0xad, 0xb5, 0xdf, 0x130, 0x131, 0x149, 0x17f, 0x1c4, 0x1c5, 0x1c6, 0x1f0,
  0x2b0, 0x300, 0x345, 0x378, 0x390, 0x3a3, 0x3b1, 0x3c2, 0x3c3, 0x3f4, 0x410, 0x430, 0x48a, 0x531, 0x561, 0x5d0, 0x5f0, 0x627, 0x660, 0x66e,
  0x6dd, 0x905, 0x93f, 0x966, 0x985, 0xe01, 0xe3f, 0x10a0, 0x10d0, 0x1100, 0x13a0, 0x13f8, 0x1c80, 0x1c90, 0x1e9e, 0x1f80, 0x1f88, 0x1fb3,
  0x1fbc, 0x2000, 0x200b, 0x200f, 0x2028, 0x2029, 0x2044, 0x20ac, 0x20dd, 0x20e3, 0x2102, 0x210e, 0x2126, 0x212a, 0x212b, 0x2160, 0x2170,
  0x2200, 0x24b6, 0x24d0, 0x2603, 0x2614, 0x2c00, 0x2c30, 0x2d00, 0x2ff0, 0x2ff2, 0x3001, 0x3007, 0x3042, 0x30a2, 0x30fc, 0x3105, 0x4e00, 0xa015,
  0xa640, 0xa64a, 0xab53, 0xab70, 0xac00, 0xd800, 0xdc00, 0xdfff, 0xe000, 0xf900, 0xfb00, 0xfb05, 0xfb06, 0xfdd0, 0xfe0f, 0xfeff, 0xff21, 0xff41,
  0xfffc, 0xfffe, 0x10000, 0x10280, 0x10330, 0x10400, 0x10428, 0x104b0, 0x104d8, 0x10570, 0x10597, 0x10900, 0x10c80, 0x10cc0, 0x11000, 0x118a0, 0x118c0,
  0x12000, 0x13000, 0x13430, 0x16e40, 0x16e60, 0x1d165, 0x1d400, 0x1d41a, 0x1d7ce, 0x1e900, 0x1e922, 0x1f1e6, 0x1f3fb, 0x1f44d, 0x1f600, 0x1f9d1,
  0x20000, 0x2f800, 0xe0001, 0xe0061, 0xe0100, 0xf0000, 0x10ffff);
const points = [...new Set(codes)], samples = points.map(c => String.fromCodePoint(c));

const bits = r => { // four samples a digit
  let out = "";
  for (let i = 0; i < samples.length; i += 4) {
    let n = 0;
    for (let j = i; j < i + 4; j++) n = 2 * n + (j < samples.length && r.test(samples[j]) ? 1 : 0);
    out += n.toString(16);
  }
  return out;
};
const classes = [];
const record = (source, flags) => classes.push([source, flags, bits(new RegExp(source, flags))]);
for (const p of groups.every) for (const flags of ["u", "iu"]) {
  for (const source of [`^\\p{${p}}$`, `^\\P{${p}}$`, `^[^\\p{${p}}]$`, `^[^\\P{${p}}]$`, `^[\\p{${p}}a-c_]$`, `^(?=\\p{${p}})[\\s\\S]$`, `^(?=[^\\P{${p}}])[\\s\\S]$`]) record(source, flags);
}
for (const p of groups.once) record(`^\\p{${p}}$`, "u");

const patterns = [
  [/\p{L}+/gu, /\p{Lu}\p{Ll}*/gu, /[\p{L}\p{M}\p{N}_]+/gu, /[^\p{L}\p{N}\s]+/gu, /\p{Sc}\s?\p{Nd}+(?:[.,]\p{Nd}+)?/gu, /^\p{L}[\p{L}\p{Pd}' ]*$/gmu],
  [/(?<=\s)\p{Lu}/gu, /\p{L}(?!\p{L})/gu, /(\p{L})\1/giu, /\p{Extended_Pictographic}(?:\u{200d}\p{Extended_Pictographic})*/gu, /\p{Script=Cyrillic}+|\p{Script=Greek}+/gu],
  [/\P{ASCII}+/gu, /[-\p{Lu}-]/gu, /[\P{L}]+/giu, /[^\P{Lu}x]/giu, /\p{White_Space}+/gu, /\p{Ideographic}+/gu, /[\p{Script=Latin}&&\d]+/gu, /\p{RI}\p{RI}/gu],
].flat();
const texts = [
  "", "Straße 12, Köln — 45,90 € (netto)", "Łódź, Gdańsk; ŻÓŁĆ", "Привет, мир! ΚΑΛΗΜΕΡΑ κόσμε ς Σ", "日本語のテキスト、漢字とカナ", "שלום עולם 123", "ﬁn ﬀ ẞ ß ſ K Å",
  "👩‍👩‍👧 and 👍🏽 and 🇩🇪🇫🇷!", "𝒜𝓁𝓅𝒽𝒶 𝟙𝟚", "a\u0301e\u0308 A\u030A", "x--y && z", "line one\nLine Two\nÉtat", "İstanbul ıIiİ", "AaBbCc Ǆǅǆ ΐ",
];
const found = [];
for (const r of patterns) for (const text of texts) found.push([r.source, r.flags, text, [...text.matchAll(r)].map(m => [m.index, m[0]])]);
writeFileSync("regexp.golden.json", JSON.stringify({ samples: points, classes: 0, found: 0 }).replace('"classes":0', '"classes":[\n' + classes.map(c => JSON.stringify(c)).join(",\n") + "\n]")
  .replace('"found":0', '"found":[\n' + found.map(c => JSON.stringify(c)).join(",\n") + "\n]") + "\n");
