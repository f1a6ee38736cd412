// A row of tabs, of which one is shown: by a click, the arrow keys, or the address.
"use strict";
const Tabs = (() => {
  // of fills a tablist with [id, label]; open(id) is called for the one that is chosen.
  const of = (box, items, open) => {
    const choose = (id, focus) => {
      for (const b of box.children) {
        const on = b.dataset.tab === id;
        b.setAttribute("aria-selected", String(on));
        b.tabIndex = on ? 0 : -1;
        if (on) b.scrollIntoView({ block: "nearest", inline: "nearest" });
        if (on && focus) b.focus();
      }
      return open(id);
    };
    box.replaceChildren(...items.map(([id, label]) => make("button", { type: "button", role: "tab", id: `tab-${id}`, "data-tab": id, "aria-controls": id, onclick: tried(() => choose(id)) }, label)));
    box.onkeydown = (e) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!by) return;
      const at = items.findIndex(([id]) => id === document.activeElement.dataset.tab);
      tried(() => choose(items[(at + by + items.length) % items.length][0], true))(e);
    };
    return choose;
  };

  return { of };
})();
