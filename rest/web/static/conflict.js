// Shows two texts beside each other, with the lines marked that only one of them has.
"use strict";
const Conflict = (() => {
  const most = 400; // lines compared one by one

  // common returns the numbers of the lines of each text that the other has too, in order.
  const common = (a, b) => {
    const [inA, inB] = [new Set(), new Set()];
    let start = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) {
      inA.add(start);
      inB.add(start++);
    }
    let end = 0;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
      inA.add(a.length - 1 - end);
      inB.add(b.length - 1 - end++);
    }
    const m = a.length - end - start;
    const n = b.length - end - start;
    if (m > most || n > most) return [inA, inB];
    const longest = Array.from({ length: m + 1 }, () => new Uint16Array(n + 1));
    for (let i = m - 1; i >= 0; i--) {
      for (let j = n - 1; j >= 0; j--) {
        longest[i][j] = a[start + i] === b[start + j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    for (let i = 0, j = 0; i < m && j < n;) {
      if (a[start + i] === b[start + j]) {
        inA.add(start + i++);
        inB.add(start + j++);
      } else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
    return [inA, inB];
  };

  const fill = (box, lines, same) => {
    box.replaceChildren(...lines.flatMap((line, i) => [same.has(i) ? line : make("mark", {}, line || " "), "\n"]));
    box.querySelector("mark")?.scrollIntoView({ block: "center" });
  };

  const show = (mine, theirs) => {
    const [a, b] = [mine.split("\n"), theirs.split("\n")];
    const [inA, inB] = common(a, b);
    fill(byId("conflict-mine"), a, inA);
    fill(byId("conflict-theirs"), b, inB);
  };
  return { show };
})();
