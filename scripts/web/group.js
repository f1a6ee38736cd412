(function () {
  "use strict";
  const add = (of, name, value) => {
    if (!Object.hasOwn(of, name)) Object.defineProperty(of, name, {value, writable: true, enumerable: false, configurable: true});
  };
  add(Object, "groupBy", function groupBy(items, key) {
    const groups = Object.create(null);
    let i = 0;
    for (const item of items) {
      const k = key(item, i++), name = typeof k === "symbol" ? k : `${k}`;
      (groups[name] ??= []).push(item);
    }
    return groups;
  });
  add(Map, "groupBy", function groupBy(items, key) {
    const groups = new Map();
    let i = 0;
    for (const item of items) {
      const k = key(item, i++), list = groups.get(k);
      if (list === undefined) groups.set(k, [item]); else list.push(item);
    }
    return groups;
  });
})
