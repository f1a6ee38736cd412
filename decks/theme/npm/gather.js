// Copies what browsers need of the packages into ../dist, from where it is built into the
// binary. Run by make after npm ci.
"use strict";
const fs = require("fs");
const path = require("path");

const from = path.join(__dirname, "node_modules");
const to = path.join(__dirname, "..", "dist");

const files = {
  "reveal.js/dist/reveal.js": "reveal.js",
  "reveal.js/dist/reveal.css": "reveal.css",
  "reveal.js/dist/reset.css": "reset.css",
  "reveal.js/dist/plugin/highlight.js": "highlight.js",
  "reveal.js/dist/plugin/highlight/monokai.css": "highlight.css",
  "reveal.js/dist/plugin/markdown.js": "markdown.js",
  "reveal.js/LICENSE": "licenses/reveal.js.txt",
  "katex/dist/katex.min.js": "katex.js",
  "katex/dist/contrib/auto-render.min.js": "katex-auto.js",
  "katex/LICENSE": "licenses/katex.txt",
};
const faces = path.join(from, "katex/dist/fonts");

function copy(source, target) {
  const out = path.join(to, target);
  fs.mkdirSync(path.dirname(out), { recursive: true });
  fs.copyFileSync(source, out);
}

for (const name of fs.readdirSync(to)) {
  if (name !== ".gitignore") fs.rmSync(path.join(to, name), { recursive: true });
}
for (const [source, target] of Object.entries(files)) copy(path.join(from, source), target);
// Every browser that runs the scripts reads woff2: the other forms of the faces stay behind.
for (const name of fs.readdirSync(faces)) if (name.endsWith(".woff2")) copy(path.join(faces, name), `fonts/${name}`);
const sheet = fs.readFileSync(path.join(from, "katex/dist/katex.min.css"), "utf8");
fs.writeFileSync(path.join(to, "katex.css"), sheet.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g, ""));
for (const family of fs.readdirSync(path.join(from, "@fontsource"))) {
  const folder = path.join(from, "@fontsource", family);
  copy(path.join(folder, "LICENSE"), `licenses/${family}.txt`);
  for (const name of fs.readdirSync(path.join(folder, "files"))) {
    const m = name.match(/-(latin|latin-ext)-(400-normal|400-italic|700-normal)\.woff2$/);
    if (m) copy(path.join(folder, "files", name), `fonts/${name}`);
  }
}
