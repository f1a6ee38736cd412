(function (native) {
  "use strict";
  const tag = Object.prototype.toString;
  const errors = {Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError};
  const refuse = what => {
    const e = new Error(`${what} could not be cloned`);
    e.name = "DataCloneError";
    throw e;
  };
  return function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError("structuredClone: a value is missing");
    const seen = new Map();
    const keep = (of, copy) => { seen.set(of, copy); return copy; };
    const fields = (of, copy) => {
      for (const key of Object.keys(of)) Object.defineProperty(copy, key, {value: clone(of[key]), writable: true, enumerable: true, configurable: true});
      return copy;
    };
    const clone = v => {
      if (typeof v === "symbol") refuse(String(v));
      if (typeof v === "function") refuse(`function ${v.name}`);
      if (typeof v !== "object" || v === null || native.handle(v)) return v;
      if (seen.has(v)) return seen.get(v);
      if (Array.isArray(v)) return fields(v, keep(v, new Array(v.length)));
      if (v instanceof ArrayBuffer) return keep(v, v.slice(0));
      if (ArrayBuffer.isView(v)) {
        const buffer = clone(v.buffer);
        return keep(v, v instanceof DataView ? new DataView(buffer, v.byteOffset, v.byteLength) : new v.constructor(buffer, v.byteOffset, v.length));
      }
      switch (tag.call(v)) {
      case "[object Boolean]": case "[object Number]": case "[object String]": case "[object BigInt]": return keep(v, Object(v.valueOf()));
      case "[object Date]": return keep(v, new Date(v.getTime()));
      case "[object RegExp]": return keep(v, new RegExp(v.source, v.flags));
      case "[object Map]": {
        const copy = keep(v, new Map());
        for (const [key, x] of [...v]) copy.set(clone(key), clone(x));
        return copy;
      }
      case "[object Set]": {
        const copy = keep(v, new Set());
        for (const x of [...v]) copy.add(clone(x));
        return copy;
      }
      case "[object Error]": {
        const copy = keep(v, new (Object.hasOwn(errors, v.name) ? errors[v.name] : Error)(v.message));
        for (const key of ["stack", "cause"]) if (key in v) Object.defineProperty(copy, key, {value: clone(v[key]), writable: true, configurable: true});
        return copy;
      }
      case "[object Object]": case "[object Arguments]": return fields(v, keep(v, {}));
      }
      return refuse(tag.call(v));
    };
    return clone(value);
  };
})
