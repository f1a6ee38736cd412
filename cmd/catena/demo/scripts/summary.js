/**
 * @operation Demo.Summary
 * @description Counts what is in a folder by type and names the largest file.
 * @input document
 * @output object
 * @param {string} [type] Only documents of this type.
 */
function run(input, params) {
  const byType = {};
  let largest = null;
  for (const doc of Document.GetChildren(input)) {
    if (params.type && doc.type !== params.type) {
      continue;
    }
    byType[doc.type] = (byType[doc.type] ?? 0) + 1;
    const file = doc["file:content"];
    if (file && (!largest || file.length > largest.length)) {
      largest = { name: file.name, length: file.length };
    }
  }
  return { folder: input.title, byType, largest };
}
