(function (native) {
  "use strict";
  const refuse = text => { throw new RangeError(text); };
  const loaded = new Map();
  const resolve = locales => {
    const list = locales === undefined ? [] : typeof locales === "string" ? [locales] : [...locales];
    const tags = list.map(l => native.canonical(`${l}`)); // every tag must be one
    const tag = tags.find(t => native.find(t) !== "") ?? "en-US", name = native.find(tag);
    if (!loaded.has(name)) loaded.set(name, JSON.parse(native.data(name)));
    return {tag, data: loaded.get(name)};
  };
  const supported = locales => (locales === undefined ? [] : typeof locales === "string" ? [locales] : [...locales])
    .map(l => native.canonical(`${l}`)).filter(t => native.find(t) !== "");
  const known = (of, options, table) => {
    for (const name of Object.keys(options)) {
      if (options[name] === undefined || name === "localeMatcher") continue;
      // What Intl does not know is ignored; what it knows and is missing here, is not.
      const values = Object.hasOwn(table, name) ? table[name] : true;
      if (values === false) refuse(`${of}: the option ${name} is not supported`);
      if (Array.isArray(values) && !values.includes(options[name])) refuse(`${of}: ${name}: the value ${String(options[name])} is not supported`);
    }
  };
  const whole = (of, name, v, lo, hi, otherwise) => {
    if (v === undefined) return otherwise;
    const n = Math.floor(Number(v));
    return n >= lo && n <= hi ? n : refuse(`${of}: ${name} must be from ${lo} to ${hi}`);
  };

  // Decimal numbers as text: rounding is that of the decimal digits, half away from zero.
  const digits = v => {
    const [mantissa, exponent = "0"] = (typeof v === "bigint" ? `${v < 0n ? -v : v}` : `${Math.abs(v)}`).split("e");
    const [i, f = ""] = mantissa.split(".");
    return shifted({i, f}, Number(exponent));
  };
  const shifted = ({i, f}, by) => {
    const all = i + f, at = i.length + by;
    const text = at > all.length ? all.padEnd(at, "0") : at < 0 ? all.padStart(all.length - at, "0") : all;
    const point = Math.max(at, 0);
    return {i: text.slice(0, point).replace(/^0+/, "") || "0", f: text.slice(point).replace(/0+$/, "")};
  };
  const rounded = ({i, f}, places) => {
    if (places >= f.length) return {i, f};
    const all = i + f, keep = i.length + places;
    if (keep < 0) return {i: "0", f: ""};
    let n = BigInt(all.slice(0, keep) || "0");
    if (all[keep] >= "5") n++;
    const text = `${n}`;
    return places > 0 ? shifted({i: text.padStart(places + 1, "0"), f: ""}, -places) : {i: places === 0 ? text : (text === "0" ? "0" : text + "0".repeat(-places)), f: ""};
  };
  const scale = ({i, f}) => (i !== "0" ? i.length : -f.search(/[1-9]/)); // digits before the point, or minus the zeros behind it

  const few = {JPY: 0, ISK: 0, KRW: 0, CLP: 0, VND: 0, PYG: 0, XAF: 0, XOF: 0, XPF: 0, UGX: 0, BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3};
  const numberOptions = {
    style: ["decimal", "percent", "currency"], currency: true, currencyDisplay: ["symbol", "narrowSymbol", "code"], currencySign: ["standard"],
    useGrouping: [true, false, "auto", "always", "min2"], minimumIntegerDigits: true, minimumFractionDigits: true, maximumFractionDigits: true,
    minimumSignificantDigits: true, maximumSignificantDigits: true, notation: ["standard"], signDisplay: ["auto", "never", "always", "exceptZero"],
    roundingMode: ["halfExpand"], roundingIncrement: [1], roundingPriority: ["auto"], trailingZeroDisplay: ["auto"],
  };
  class NumberFormat {
    #tag; #data; #o; #bound;
    constructor(locales, options = {}) {
      ({tag: this.#tag, data: this.#data} = resolve(locales));
      const of = "NumberFormat", {style = "decimal"} = options;
      known(of, options, numberOptions);
      const currency = options.currency === undefined ? undefined : `${options.currency}`.toUpperCase();
      if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) refuse(`${of}: currency: ${currency}`);
      if (style === "currency" && currency === undefined) throw new TypeError(`${of}: the currency is missing`);
      const least = style === "currency" ? few[currency] ?? 2 : 0, most = style === "currency" ? least : style === "percent" ? 0 : 3;
      const min = whole(of, "minimumFractionDigits", options.minimumFractionDigits, 0, 100, undefined);
      const max = whole(of, "maximumFractionDigits", options.maximumFractionDigits, 0, 100, undefined);
      const o = {style, currency, display: options.currencyDisplay ?? "symbol", sign: options.signDisplay ?? "auto", group: options.useGrouping ?? "auto"};
      o.integer = whole(of, "minimumIntegerDigits", options.minimumIntegerDigits, 1, 21, 1);
      o.min = min ?? Math.min(least, max ?? least);
      o.max = max ?? Math.max(most, o.min);
      if (o.min > o.max) refuse(`${of}: maximumFractionDigits is less than minimumFractionDigits`);
      if (options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined) {
        o.low = whole(of, "minimumSignificantDigits", options.minimumSignificantDigits, 1, 21, 1);
        o.high = whole(of, "maximumSignificantDigits", options.maximumSignificantDigits, o.low, 21, 21);
      }
      this.#o = o;
    }
    get format() { return (this.#bound ??= v => this.#text(typeof v === "bigint" ? v : Number(v))); }
    #text(v) {
      const o = this.#o, data = this.#data;
      const money = o.style === "currency";
      let body, zero = false;
      if (typeof v === "number" && !Number.isFinite(v)) {
        body = Number.isNaN(v) ? data.nan : "∞";
        zero = Number.isNaN(v);
      } else {
        let x = digits(v);
        if (o.style === "percent") x = shifted(x, 2);
        if (o.high !== undefined) {
          x = rounded(x, o.high - scale(x));
          if (x.f.length < o.low - scale(x)) x.f = x.f.padEnd(o.low - (x.i === "0" && x.f === "" ? 1 : scale(x)), "0");
        } else {
          x = rounded(x, o.max);
          x.f = x.f.padEnd(o.min, "0");
        }
        zero = /^0*$/.test(x.i + x.f);
        let i = x.i.padStart(o.integer, "0");
        const least = o.group === "always" ? 1 : o.group === "min2" ? 2 : data.least;
        if (o.group !== false && i.length >= 3 + least) i = i.replace(/\B(?=(\d{3})+$)/g, money ? data.moneyGroup : data.group);
        body = x.f === "" ? i : i + (money ? data.moneyDecimal || data.decimal : data.decimal) + x.f;
      }
      const negative = typeof v === "bigint" ? v < 0n : v < 0 || Object.is(v, -0);
      let shapes = ["#", data.minus + "#"], symbol = "";
      if (o.style === "percent") shapes = data.percent;
      if (money) {
        symbol = o.display === "code" ? o.currency : data.symbols[o.currency] ?? o.currency;
        const edge = data.currency[0].startsWith("¤") ? symbol.at(-1) : symbol[0];
        shapes = edge.toLowerCase() !== edge.toUpperCase() ? data.code : data.currency;
      }
      let shape = shapes[0];
      if (negative && (o.sign === "auto" || o.sign === "always" || o.sign === "exceptZero" && !zero)) shape = shapes[1];
      else if (!negative && (o.sign === "always" || o.sign === "exceptZero" && !zero)) shape = shapes[1].replace(data.minus, "+");
      return shape.replace("#", () => body).replace("¤", () => symbol);
    }
    resolvedOptions() {
      const o = this.#o;
      const out = {locale: this.#tag, numberingSystem: "latn", style: o.style, minimumIntegerDigits: o.integer, minimumFractionDigits: o.min, maximumFractionDigits: o.max};
      if (o.currency !== undefined && o.style === "currency") Object.assign(out, {currency: o.currency, currencyDisplay: o.display});
      if (o.high !== undefined) Object.assign(out, {minimumSignificantDigits: o.low, maximumSignificantDigits: o.high});
      return out;
    }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const dateFields = ["weekday", "year", "month", "day"], timeFields = ["hour", "minute", "second"];
  const order = ["dateStyle", "timeStyle", ...dateFields, ...timeFields];
  const style = ["full", "long", "medium", "short"], number = ["numeric", "2-digit"], text = ["long", "short"];
  const dateOptions = {
    dateStyle: style, timeStyle: ["medium", "short"], weekday: text, year: number, month: [...number, ...text], day: number, hour: number, minute: number, second: number,
    timeZone: true, hour12: [true, false], hourCycle: false, era: false, dayPeriod: false, fractionalSecondDigits: false, timeZoneName: false, calendar: ["gregory"], numberingSystem: ["latn"],
  };
  const types = {y: "year", M: "month", N: "month", d: "day", E: "weekday", h: "hour", H: "hour", m: "minute", s: "second", a: "dayPeriod"};
  class DateTimeFormat {
    #tag; #pattern; #data; #zone; #bound; #o;
    constructor(locales, options = {}, required = "any", defaults = "date") {
      ({tag: this.#tag, data: this.#data} = resolve(locales));
      const of = "DateTimeFormat";
      known(of, options, dateOptions);
      const o = {};
      for (const name of order) if (options[name] !== undefined) o[name] = options[name];
      const styled = o.dateStyle !== undefined || o.timeStyle !== undefined;
      if (styled && order.slice(2).some(name => o[name] !== undefined)) throw new TypeError(`${of}: dateStyle and timeStyle cannot be used with other fields`);
      if (styled && (required === "date" && o.timeStyle !== undefined || required === "time" && o.dateStyle !== undefined)) throw new TypeError(`${of}: this style is not one of what is shown`);
      const needed = required === "date" ? dateFields : required === "time" ? timeFields : [...dateFields, ...timeFields];
      if (!styled && !needed.some(name => o[name] !== undefined)) {
        if (defaults !== "time") o.year = o.month = o.day = "numeric";
        if (defaults !== "date") o.hour = o.minute = o.second = "numeric";
      }
      this.#zone = native.zone(options.timeZone === undefined ? "UTC" : `${options.timeZone}`);
      const key = order.filter(name => o[name] !== undefined).map(name => `${name}:${o[name]}`).join();
      const pattern = Object.hasOwn(this.#data.dates, key) ? this.#data.dates[key] : refuse(`${of}: these fields are not supported together: ${key}`);
      const twelve = pattern.some(p => p[0] === "h" || p[0] === "hh");
      if (options.hour12 !== undefined && pattern.some(p => Array.isArray(p) && types[p[0][0]] === "hour") && options.hour12 !== twelve) {
        refuse(`${of}: hour12: ${options.hour12} is not supported in this locale`);
      }
      this.#pattern = pattern;
      this.#o = o;
    }
    get format() { return (this.#bound ??= v => this.formatToParts(v).map(p => p.value).join("")); }
    formatToParts(v) {
      const ms = v === undefined ? Date.now() : Number(v);
      if (!(Math.abs(ms) <= 8.64e15)) refuse("DateTimeFormat: an invalid date");
      const [year, month, day, hour, minute, second, weekday] = native.fields(ms, this.#zone);
      const two = n => `${n}`.padStart(2, "0"), twelve = hour % 12 || 12;
      const values = {
        y: year, yy: two(((year % 100) + 100) % 100), M: month, MM: two(month), d: day, dd: two(day), h: twelve, hh: two(twelve), H: hour, HH: two(hour),
        m: minute, mm: two(minute), s: second, ss: two(second), N: month - 1, E: weekday, a: hour < 12 ? 0 : 1,
      };
      return this.#pattern.map(p => {
        if (!Array.isArray(p)) return {type: "literal", value: p};
        const value = values[p[0]];
        return {type: types[p[0][0]], value: p.length > 1 ? this.#data.names[p[1]][value] : `${value}`};
      });
    }
    resolvedOptions() { return {locale: this.#tag, calendar: "gregory", numberingSystem: "latn", timeZone: this.#zone, ...this.#o}; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  class PluralRules {
    #tag; #type; #format;
    constructor(locales, options = {}) {
      known("PluralRules", options, {type: ["cardinal", "ordinal"], minimumFractionDigits: true, maximumFractionDigits: true, minimumIntegerDigits: true});
      this.#tag = resolve(locales).tag;
      this.#type = options.type ?? "cardinal";
      this.#format = new NumberFormat("en", {...options, type: undefined, useGrouping: false});
    }
    select(n) { return Number.isFinite(Number(n)) ? native.plural(this.#tag, this.#format.format(Math.abs(Number(n))), this.#type === "ordinal") : "other"; }
    resolvedOptions() { return {locale: this.#tag, type: this.#type}; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  class RelativeTimeFormat {
    #tag; #data; #numeric; #numbers; #plural;
    constructor(locales, options = {}) {
      known("RelativeTimeFormat", options, {numeric: ["always", "auto"], style: ["long"]});
      ({tag: this.#tag, data: this.#data} = resolve(locales));
      this.#numeric = options.numeric ?? "always";
      this.#numbers = new NumberFormat(this.#tag);
      this.#plural = new PluralRules(this.#tag, {maximumFractionDigits: 3});
    }
    format(value, unit) {
      const v = Number(value), name = `${unit}`.replace(/s$/, "");
      if (!Number.isFinite(v)) refuse("RelativeTimeFormat: the value must be finite");
      if (!Object.hasOwn(this.#data.relative, name)) refuse(`RelativeTimeFormat: unknown unit ${unit}`);
      const [past, future, words] = this.#data.relative[name];
      if (this.#numeric === "auto" && Object.hasOwn(words, v)) return words[v];
      const forms = v < 0 || Object.is(v, -0) ? past : future;
      return (forms[this.#plural.select(v)] ?? forms.other).replace("#", () => this.#numbers.format(Math.abs(v)));
    }
    resolvedOptions() { return {locale: this.#tag, style: "long", numeric: this.#numeric, numberingSystem: "latn"}; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  class Collator {
    #tag; #numeric; #sensitivity; #bound;
    constructor(locales, options = {}) {
      known("Collator", options, {usage: ["sort", "search"], sensitivity: ["base", "accent", "case", "variant"], numeric: [true, false], ignorePunctuation: [false], caseFirst: ["false"]});
      this.#tag = resolve(locales).tag;
      this.#numeric = options.numeric ?? false;
      this.#sensitivity = options.sensitivity ?? "variant";
    }
    get compare() { return (this.#bound ??= (a, b) => native.compare(this.#tag, `${a}`, `${b}`, this.#numeric, this.#sensitivity)); }
    resolvedOptions() { return {locale: this.#tag, usage: "sort", sensitivity: this.#sensitivity, numeric: this.#numeric, collation: "default", caseFirst: "false", ignorePunctuation: false}; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const replace = (proto, methods) => {
    for (const name of Object.keys(methods)) Object.defineProperty(proto, name, {value: methods[name], writable: true, enumerable: false, configurable: true});
  };
  const shown = (defaults, required) => ({ m(locales, options) {
    const ms = Date.prototype.getTime.call(this);
    return Number.isNaN(ms) ? "Invalid Date" : new DateTimeFormat(locales, options, required, defaults).format(ms);
  } }).m;
  const first = locales => (locales === undefined ? "en" : native.canonical(`${typeof locales === "string" ? locales : locales[0] ?? "en"}`));
  replace(Date.prototype, {toLocaleString: shown("all", "any"), toLocaleDateString: shown("date", "date"), toLocaleTimeString: shown("time", "time")});
  replace(Number.prototype, {toLocaleString(locales, options) { return new NumberFormat(locales, options).format(Number.prototype.valueOf.call(this)); }});
  replace(BigInt.prototype, {toLocaleString(locales, options) { return new NumberFormat(locales, options).format(BigInt.prototype.valueOf.call(this)); }});
  replace(Array.prototype, {toLocaleString(locales, options) {
    return Array.prototype.map.call(this, v => (v === undefined || v === null ? "" : `${v.toLocaleString(locales, options)}`)).join(",");
  }});
  replace(String.prototype, {
    localeCompare(that, locales, options) { return new Collator(locales, options).compare(this, that); },
    toLocaleUpperCase(locales) { return native.upper(first(locales), `${this}`); },
    toLocaleLowerCase(locales) { return native.lower(first(locales), `${this}`); },
  });
  return {
    Collator, DateTimeFormat, NumberFormat, PluralRules, RelativeTimeFormat,
    getCanonicalLocales(locales) { return (locales === undefined ? [] : typeof locales === "string" ? [locales] : [...locales]).map(l => native.canonical(`${l}`)); },
  };
})
