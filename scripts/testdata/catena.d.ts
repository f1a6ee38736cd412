/// <reference no-default-lib="true"/>
/// <reference lib="es2022"/>
// The API for scripts, generated from the operations of this server. Do not edit.
//
// Scripts have neither a browser nor Node.js around them, so their names, such as Document and Blob, stand for what is declared
// here. The file jsconfig.json beside this one tells editors so, and that every script is a module.

/** A document. Setting a property changes it in memory; Document.Save stores it. */
interface Doc {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly type: string;
  /** State in the life cycle. */
  readonly state: string;
  readonly facets: string[];
  readonly schemas: string[];
  readonly parentId: string;
  readonly versionLabel: string;
  readonly changeToken: string;
  readonly repository: string;
  readonly isFolder: boolean;
  readonly isVersion: boolean;
  readonly isProxy: boolean;
  readonly isTrashed: boolean;
  readonly isCheckedOut: boolean;
  readonly isLocked: boolean;
  readonly lockOwner: string | null;
  readonly lockCreated: Date | null;
  getProperty(xpath: string): any;
  setProperty(xpath: string, value: any): void;
  hasFacet(name: string): boolean;
  hasSchema(name: string): boolean;
  toJSON(): { [name: string]: any };
  /** A property, for example doc["dc:title"]. */
  [xpath: `${string}:${string}`]: any;
}

/** A list of documents: an array that also counts with size() and reads with get(i). */
interface DocList extends Array<Doc> {
  size(): number;
  get(i: number): Doc;
}

/** A file. */
interface Blob {
  readonly name: string;
  readonly type: string;
  readonly mimeType: string;
  readonly length: number;
  readonly size: number;
  readonly encoding: string;
  readonly digest: string;
  /** The content as text, up to the limit of a value. */
  text(): string;
}

/** Property values by xpath. */
interface Properties {
  [xpath: string]: any;
}

/** An error of an operation, as catch sees it. */
interface OperationError extends Error {
  readonly kind: "internal" | "invalid" | "denied" | "notfound" | "exists" | "conflict" | "limit" | "unavailable";
  readonly code?: string;
  readonly field?: string;
  readonly operation?: string;
}

/** An instant that can be shifted and shown; as text it is a literal of the query language. */
interface When {
  readonly time: number;
  readonly date: Date;
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly week: number;
  years(n: number): When;
  months(n: number): When;
  weeks(n: number): When;
  days(n: number): When;
  seconds(n: number): When;
  format(pattern: string): string;
}

interface ScriptConsole {
  debug(...values: any[]): void;
  error(...values: any[]): void;
  info(...values: any[]): void;
  log(...values: any[]): void;
  trace(...values: any[]): void;
  warn(...values: any[]): void;
}

interface ScriptUser {
  readonly name: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string | null;
  readonly company: string | null;
  readonly groups: string[];
  readonly allGroups: string[];
  readonly actingUser: string;
  readonly originatingUser: string;
  readonly administrator: boolean;
}

/** What the script was called with. */
declare const input: any;
declare const params: { [name: string]: any };
/** The context's variables, read and written in place. */
declare const ctx: { [name: string]: any };
declare const CurrentUser: ScriptUser;
declare const currentUser: ScriptUser;
declare const CurrentDate: When;
declare const Env: {};
declare const Console: ScriptConsole;
declare const console: ScriptConsole;

declare const Session: {
  getDocument(ref: string): Doc;
  getRootDocument(): Doc;
  query(query: string, params?: any[], pageSize?: number): DocList;
  getChildren(doc: Doc): DocList;
  getParent(doc: Doc): Doc;
  removeDocument(doc: Doc): Doc;
  save(doc: Doc): Doc;
  saveDocument(doc: Doc): Doc;
};

declare const Fn: {
  calendar(value: any): any;
  concatenateIntoList(list: any[], ...values: any[]): any[];
  concatenateValuesAsNewList(...values: any[]): any[];
  date(value: any): any;
  documentExists(session: any, ref: string): boolean;
  escapeHtml(text: string): string;
  getEmail(user: string): string;
  getEmails(users: string[], prefixed?: boolean): string[];
  getEmailsFromGroup(group: string, ignoreGroups?: boolean): string[];
  getNextId(key: string): number;
  getPrincipal(user: string): { name: string; firstName: string; lastName: string; email: string; company: string; groups: string[] };
  getPrincipalEmails(users: string[]): string[];
  getPrincipalsFromGroup(group: string, ignoreGroups?: boolean): any[];
  getVocabularyLabel(vocabulary: string, key: string): string;
  htmlEscape(text: string): string;
  jsonPath(value: any, query: string): any[];
  nxqlEscape(text: string): string;
};

/** An address, as in browsers. */
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}

/** The parameters of an address, or of a form. */
declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(init?: string | URLSearchParams | Iterable<[string, string]> | { [name: string]: any });
  readonly size: number;
  append(name: string, value: any): void;
  delete(name: string, value?: any): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: any): boolean;
  set(name: string, value: any): void;
  sort(): void;
  forEach(f: (value: string, name: string, all: URLSearchParams) => void, self?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array;
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

type DigestName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512" | (string & {});

declare const crypto: {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  /** The digest of a text (as UTF-8) or of bytes, as Node.js has it. */
  hash(algorithm: "sha1" | "sha256" | "sha384" | "sha512" | "md5" | (string & {}), data: string | ArrayBuffer | ArrayBufferView, encoding?: "hex" | "base64" | "base64url"): string;
  readonly subtle: {
    digest(algorithm: DigestName | { name: DigestName }, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer>;
  };
};

/** A copy, also of dates, maps, sets, bytes and what refers to itself. Documents and files stay the same. */
declare function structuredClone<T>(value: T): T;
/** Text in Base64 as bytes, one a character. */
declare function atob(text: string): string;
/** Bytes, one a character, as text in Base64. */
declare function btoa(bytes: string): string;

interface ObjectConstructor {
  groupBy<T, K extends PropertyKey>(items: Iterable<T>, key: (item: T, index: number) => K): { [key in K]?: T[] };
}

interface MapConstructor {
  groupBy<T, K>(items: Iterable<T>, key: (item: T, index: number) => K): Map<K, T[]>;
}

/**
 * Takes everything.
 * Alias of Test.Every.
 * @param params.text A text.
 * @param params.any Anything.
 * @param params.blob A file.
 * @param params.choice One of two. Default: a.
 * @param params.date A date.
 * @param params.doc A document.
 * @param params.docs Documents.
 * @param params.is A Flag A flag. Default: true.
 * @param params.list Texts. * / Not the end.
 * @param params.map A map.
 * @param params.number A number.
 * @param params.props Properties.
 * @since 1.0
 */
declare function Every(input: Doc | string, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): Doc;
declare function Every(input: Doc[] | string[], params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): DocList;
declare function Every(input: Blob, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): string;
declare function Every<T>(input: T, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): T;

declare namespace Proxy_ {

  /**
   * Has the name of a global of the language.
   */
  function GetSourceDocument(input?: any, params?: {}): DocList;
}

interface ProxyConstructor {
  GetSourceDocument: typeof Proxy_.GetSourceDocument;
}

declare namespace Test {

  /**
   * Is an operation and a space.
   */
  function Deep(input?: any, params?: {}): DocList;

  namespace Deep {

    /**
     * Has a name that JavaScript cannot write.
     */
    function Down_Here__X_(input?: any, params?: {}): DocList;
  }

  /**
   * Has a reserved word for a name.
   */
  function Delete(input: Doc | string, params?: {}): DocList;

  /**
   * Takes everything.
   * @param params.text A text.
   * @param params.any Anything.
   * @param params.blob A file.
   * @param params.choice One of two. Default: a.
   * @param params.date A date.
   * @param params.doc A document.
   * @param params.docs Documents.
   * @param params.is A Flag A flag. Default: true.
   * @param params.list Texts. * / Not the end.
   * @param params.map A map.
   * @param params.number A number.
   * @param params.props Properties.
   * @since 1.0
   */
  function Every(input: Doc | string, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): Doc;
  function Every(input: Doc[] | string[], params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): DocList;
  function Every(input: Blob, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): string;
  function Every<T>(input: T, params: { text: string; any?: any; blob?: Blob; choice?: "a" | "b"; date?: Date | string; doc?: Doc | string; docs?: Doc[] | string[]; "is A Flag"?: boolean; list?: string[] | string; map?: { [name: string]: any }; number?: number; props?: Properties | string }): T;

  /**
   * Returns a Go type.
   */
  function Outline(input?: any, params?: {}): Result.ScriptsOutline[];

  /**
   * Returns a map of which the definition tells.
   */
  function Webhook(input?: any, params?: {}): Result.Webhook;

  /**
   * Has a reserved word for a name.
   * Alias of Test.Delete.
   */
  function delete_(input: Doc | string, params?: {}): DocList;
  export { delete_ as delete };
}

/** What operations return. */
declare namespace Result {
  type LibraryProblem = { column: number; file: string; line: number; message: string; nearest?: string; param?: string; step?: number; warning?: boolean };
  type ScriptsOutline = { description: string; effect: string; input: string; label: string; name: string; output: string; params: Result.ScriptsOutlineParam[]; problems: Result.LibraryProblem[] };
  type ScriptsOutlineParam = { default?: any; description: string; name: string; required: boolean; secret?: boolean; type: string };
  type Webhook = { created: Date | string; description: string; enabled: boolean; "entity-type"?: string; events: any[]; failingSince?: Date | string; failures: number; id: string; owner: string; reason?: string; secret?: string; updated: Date | string; url: string };
}
