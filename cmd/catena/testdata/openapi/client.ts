// A client whose types are generated from the description of the server: what is returned for a document is a Document.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };
type Document = components["schemas"]["Document"];

const [, , baseUrl, authorization] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { Authorization: authorization } });

function found<T>(what: string, { data, error }: { data?: T; error?: components["schemas"]["Exception"] }): T {
  if (data === undefined) throw new Error(`${what}: ${error?.status} ${error?.message}`);
  return data;
}

const domain: Document = found("read", await client.GET("/api/v1/path/{doc}", { params: { path: { doc: "default-domain" } } }));
const made: Document = found(
  "create",
  await client.POST("/api/v1/path/{doc}", {
    params: { path: { doc: "default-domain" } },
    body: { "entity-type": "document", type: "Folder", name: "typed", properties: { "dc:title": "Typed" } },
  }),
);
const called: Document = found(
  "operation",
  await client.POST("/api/v1/automation/Repository.GetDocument", { body: { params: { value: made.uid } } }),
);
const children: components["schemas"]["Documents"] = found(
  "children",
  await client.GET("/api/v1/id/{id}/@children", { params: { path: { id: domain.uid } } }),
);
const got = [domain.type, made.path, called.title, children.entries.some((d) => d.uid === made.uid)].join(" ");
if (got !== "Domain /default-domain/typed Typed true") throw new Error(got);

// @ts-expect-error: a document has no such member, and the compiler knows.
domain.nothing;
