// Puts the editor and the packages that it uses into one file, ../dist/editor.js, with their licences beside it. Run by make
// after npm ci.
import { build } from "esbuild";
import fs from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
const to = path.join(here, "..", "dist");
const { metafile } = await build({
  entryPoints: [path.join(here, "editor.mjs")], outfile: path.join(to, "editor.js"),
  bundle: true, minify: true, format: "iife", globalName: "Editor", target: "es2022", legalComments: "none", metafile: true, absWorkingDir: here,
});
const packages = [...new Set(Object.keys(metafile.inputs).map((f) => f.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))].sort();
const licences = packages.map((name) => {
  const dir = path.join(here, "node_modules", name);
  const file = fs.readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
  if (!file) throw new Error(`${name} has no licence`);
  return `${name}\n\n${fs.readFileSync(path.join(dir, file), "utf8").trim()}\n`;
});
fs.writeFileSync(path.join(to, "editor.txt"), licences.join("\n----\n\n"));
