(function (native) {
  "use strict";
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return new Uint8Array(native.encode(`${text}`)); }
    get [Symbol.toStringTag]() { return "TextEncoder"; }
  }
  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    constructor(label = "utf-8", options = {}) {
      this.#encoding = native.label(`${label}`);
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(bytes, options) {
      if (options?.stream) throw new TypeError("TextDecoder: streams are not supported");
      return bytes === undefined ? "" : native.decode(bytes, this.#encoding, this.#fatal, this.#ignoreBOM);
    }
    get [Symbol.toStringTag]() { return "TextDecoder"; }
  }
  return {TextEncoder, TextDecoder};
})
