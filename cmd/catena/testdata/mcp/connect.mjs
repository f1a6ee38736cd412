// Opens the official clients: the current one (which speaks both eras of the protocol) and
// the one of the version-1 line, over HTTP or over the standard input and output of a program.
import * as current from '@modelcontextprotocol/client';
import * as currentStdio from '@modelcontextprotocol/client/stdio';
import * as first from '@modelcontextprotocol/sdk/client/index.js';
import * as firstHTTP from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as firstStdio from '@modelcontextprotocol/sdk/client/stdio.js';

const about = { name: 'driver', version: '1.0.0' };

const libraries = {
  legacy: {
    client: () => new current.Client(about),
    HTTP: current.StreamableHTTPClientTransport,
    Stdio: currentStdio.StdioClientTransport,
  },
  modern: {
    client: () => new current.Client(about, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    HTTP: current.StreamableHTTPClientTransport,
    Stdio: currentStdio.StdioClientTransport,
  },
  auto: {
    client: () => new current.Client(about, { versionNegotiation: { mode: 'auto' } }),
    HTTP: current.StreamableHTTPClientTransport,
    Stdio: currentStdio.StdioClientTransport,
  },
  first: {
    client: () => new first.Client(about),
    HTTP: firstHTTP.StreamableHTTPClientTransport,
    Stdio: firstStdio.StdioClientTransport,
  },
};

export const eras = Object.keys(libraries);

// open connects a client of an era to a server: an address, or a program with its arguments.
export async function open(era, target, key) {
  const library = libraries[era];
  const client = library.client();
  const transport =
    target.length === 1
      ? new library.HTTP(new URL(target[0]), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
      : new library.Stdio({ command: target[0], args: target.slice(1), env: { CATENA_KEY: key, PATH: process.env.PATH } });
  await client.connect(transport);
  return client;
}

// protocol returns the version that client and server have agreed on.
export function protocol(client) {
  return client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion;
}
