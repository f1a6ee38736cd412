// The conformance suite imports fs.globSync, which Node has from version 22 on and which only
// the suite's own bookkeeping calls. Preloaded (node --import), this lets Node 20 run it.
import fs from 'node:fs';
import { register } from 'node:module';

if (!fs.globSync) {
  const patched = `data:text/javascript,${encodeURIComponent(
    "export * from 'node:fs'; export { default } from 'node:fs';" +
      "export function globSync() { throw new Error('globSync needs Node 22'); }",
  )}`;
  register(
    `data:text/javascript,${encodeURIComponent(
      `export async function resolve(name, context, next) {
        return name === 'fs' && context.parentURL?.includes('/conformance/') ? { url: ${JSON.stringify(patched)}, shortCircuit: true } : next(name, context);
      }`,
    )}`,
  );
}
