(function (native) {
  "use strict";
  let link, reload;
  class URLSearchParams {
    #list = [];
    #changed = () => {};
    static {
      link = (p, query, changed) => { p.#list = native.parse(query); p.#changed = changed; };
      reload = (p, query) => { p.#list = native.parse(query); };
    }
    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object" && typeof init !== "function") {
        this.#list = native.parse(`${init}`.replace(/^\?/, ""));
      } else if (init[Symbol.iterator] !== undefined && init[Symbol.iterator] !== null) {
        for (const pair of init) {
          const [name, value, ...more] = pair;
          if (more.length > 0 || value === undefined) throw new TypeError("URLSearchParams: each item must be a pair of a name and a value");
          this.#list.push([`${name}`, `${value}`]);
        }
      } else {
        for (const name of Object.keys(init)) this.#list.push([name, `${init[name]}`]);
      }
    }
    get size() { return this.#list.length; }
    append(name, value) { this.#list.push([`${name}`, `${value}`]); this.#changed(this); }
    delete(name, value) {
      this.#list = this.#list.filter(p => p[0] !== `${name}` || value !== undefined && p[1] !== `${value}`);
      this.#changed(this);
    }
    get(name) { const p = this.#list.find(p => p[0] === `${name}`); return p === undefined ? null : p[1]; }
    getAll(name) { return this.#list.filter(p => p[0] === `${name}`).map(p => p[1]); }
    has(name, value) { return this.#list.some(p => p[0] === `${name}` && (value === undefined || p[1] === `${value}`)); }
    set(name, value) {
      const at = this.#list.findIndex(p => p[0] === `${name}`);
      if (at < 0) return this.append(name, value);
      this.#list = this.#list.filter((p, i) => i <= at || p[0] !== `${name}`);
      this.#list[at] = [`${name}`, `${value}`];
      this.#changed(this);
    }
    sort() { this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#changed(this); }
    forEach(f, self) { for (const [name, value] of this) f.call(self, value, name, this); }
    *entries() { for (let i = 0; i < this.#list.length; i++) yield [...this.#list[i]]; }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return native.form(this.#list); }
    get [Symbol.toStringTag]() { return "URLSearchParams"; }
  }
  class URL {
    #href;
    #params;
    constructor(url, base) { this.#href = native.url(`${url}`, base === undefined ? undefined : `${base}`); }
    static canParse(url, base) {
      try { return native.url(`${url}`, base === undefined ? undefined : `${base}`) !== ""; } catch { return false; }
    }
    #become(href) {
      this.#href = href;
      if (this.#params !== undefined) reload(this.#params, native.part(href, "search").slice(1));
    }
    static {
      for (const name of ["hash", "host", "hostname", "password", "pathname", "port", "protocol", "search", "username"]) {
        Object.defineProperty(this.prototype, name, {
          get() { return native.part(this.#href, name); },
          set(value) { this.#become(native.change(this.#href, name, `${value}`)); },
          enumerable: true, configurable: true,
        });
      }
    }
    get href() { return this.#href; }
    set href(value) { this.#become(native.url(`${value}`, undefined)); }
    get origin() { return native.part(this.#href, "origin"); }
    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams();
        link(this.#params, native.part(this.#href, "search").slice(1), p => { this.#href = native.change(this.#href, "search", `${p}`); });
      }
      return this.#params;
    }
    toString() { return this.#href; }
    toJSON() { return this.#href; }
    get [Symbol.toStringTag]() { return "URL"; }
  }
  return {URL, URLSearchParams};
})
