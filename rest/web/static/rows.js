// Lists of any length: pages are asked for by cursor when they come near the view, and the elements of rows are used again.
// Rows keep the order of the list in the document, so that the Tab key and screen readers go through them in it.
"use strict";
const Rows = (() => {
  const spare = 8; // rows kept above and below the view

  // list makes one. load(after) resolves to { entries, next, total }, where next is the cursor of the following page; fill
  // returns the content of a row.
  const list = ({ label, load, fill, height = 60, empty = "Nothing here." }) => {
    const ul = make("ul", { "aria-label": label });
    const none = make("p", { class: "soft", hidden: true }, empty);
    const element = make("div", { class: "rows" }, ul, none);
    const shown = new Map(); // index: li
    const o = { element, entries: [], total: undefined, ended: false };
    let next;
    let asking = null;
    let begun = false;
    let turn = 0; // answers to questions before the last refresh are dropped

    const row = (i, reused) => {
      const li = reused || make("li");
      li.dataset.index = i;
      li.style.top = `${i * height}px`;
      li.style.height = `${height}px`;
      li.setAttribute("aria-posinset", i + 1);
      li.setAttribute("aria-setsize", o.ended ? o.entries.length : o.total ?? -1);
      li.replaceChildren(...fill(o.entries[i], i).filter(Boolean));
      return li;
    };

    // draw puts rows into the view; again fills those that are there as well.
    const draw = (again) => {
      if (!begun) return;
      const first = Math.max(0, Math.floor(element.scrollTop / height) - spare);
      const last = Math.min(o.entries.length, Math.ceil((element.scrollTop + element.clientHeight) / height) + spare);
      ul.style.height = `${(o.entries.length + (o.ended ? 0 : 1)) * height}px`;
      const free = [];
      for (const [i, li] of shown) {
        if ((i >= first && i < last) || (li.contains(document.activeElement) && i < o.entries.length)) continue;
        shown.delete(i);
        free.push(li);
      }
      let after = null;
      for (const li of ul.children) if (!free.includes(li) && Number(li.dataset.index) < first) after = li;
      for (let i = first; i < last; i++) {
        let li = shown.get(i);
        if (li && again) row(i, li);
        if (!li) {
          li = row(i, free.pop());
          if (after) after.after(li);
          else ul.prepend(li);
          shown.set(i, li);
        }
        after = li;
      }
      for (const li of free) li.remove();
      none.hidden = !o.ended || o.entries.length > 0;
      ul.hidden = !none.hidden;
      if (!o.ended && last >= o.entries.length - spare * 3) more();
    };

    const more = () => {
      const mine = turn;
      asking ||= load(next).then((page) => {
        if (mine !== turn) return;
        o.entries.push(...page.entries);
        next = page.next;
        o.total = page.total;
        o.ended = !next || !page.entries.length;
        asking = null;
        draw(o.ended);
        element.dispatchEvent(new CustomEvent("loaded"));
      }).catch((error) => {
        if (mine !== turn) return;
        o.ended = true;
        asking = null;
        draw();
        complain(error);
      });
      return asking;
    };

    // refresh asks for everything again, from the start.
    o.refresh = () => {
      turn++;
      begun = true;
      asking = null;
      next = undefined;
      o.entries.length = 0;
      o.ended = false;
      element.scrollTop = 0;
      shown.clear();
      ul.replaceChildren();
      return more();
    };
    o.draw = () => draw(true);

    let due = 0;
    element.addEventListener("scroll", () => {
      due ||= requestAnimationFrame(() => {
        due = 0;
        draw();
      });
    }, { passive: true });
    new ResizeObserver(() => draw()).observe(element);
    ul.addEventListener("keydown", (e) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      const at = Number(e.target.closest("li")?.dataset.index) + by;
      if (!by || !(at >= 0 && at < o.entries.length) || e.target.matches("select, input:not([type=checkbox])")) return;
      e.preventDefault();
      const kind = e.target.matches("input") ? "input" : "a, button";
      if (at * height < element.scrollTop) element.scrollTop = at * height;
      if ((at + 1) * height > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * height - element.clientHeight;
      draw();
      shown.get(at)?.querySelector(kind)?.focus();
    });
    return o;
  };

  return { list };
})();
