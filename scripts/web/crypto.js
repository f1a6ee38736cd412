(function (native) {
  "use strict";
  const names = {"SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"};
  const subtle = {
    // What is wrong rejects the promise, as in browsers.
    async digest(algorithm, data) {
      const name = `${typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm}`.toUpperCase();
      if (!Object.hasOwn(names, name)) throw new TypeError(`crypto.subtle.digest: unknown algorithm ${name}`);
      return native.digest(names[name], data);
    },
  };
  return {
    subtle,
    randomUUID() { return native.uuid(); },
    getRandomValues(array) { native.random(array); return array; },
    hash(algorithm, data, encoding = "hex") { return native.hash(`${algorithm}`.toLowerCase().replace(/^sha-/, "sha"), data, `${encoding}`); },
  };
})
