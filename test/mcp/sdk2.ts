import { randomUUID } from 'node:crypto'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  InMemoryTransport,
  McpServer,
  SERVER_INFO_META_KEY,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Sdk, TestClient, TestServer, ToolResult } from './sdk.ts'

const LATEST = '2026-07-28'

/** Connects a client with the protocol 2025-11-25, or with a version that it requires. */
async function connectTo(transport: Transport, version?: string): Promise<TestClient> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    version === undefined ? {} : { versionNegotiation: { mode: { pin: version } } },
  )
  await client.connect(transport)
  return {
    callTool: async (name, args = {}, signal) => {
      const result = await client.callTool({ name, arguments: { ...args } }, { ...(signal && { signal }) })
      return withoutServerInfo(result as ToolResult)
    },
    listTools: () => client.listTools(undefined, { cacheMode: 'bypass' }),
    listResources: () => client.listResources(undefined, { cacheMode: 'bypass' }),
    readResource: (uri) => client.readResource({ uri }, { cacheMode: 'bypass' }),
    close: () => client.close(),
  }
}

/** Removes what the SDK adds to each result with the protocol 2026-07-28. */
function withoutServerInfo({ _meta, ...result }: ToolResult): ToolResult {
  const { [SERVER_INFO_META_KEY]: _server, ...meta } = _meta ?? {}
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta }
}

const common = {
  newServer: () => new McpServer({ name: 'test', version: '1.0.0' }) as unknown as TestServer,
  newLowLevelServer: () => new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } }),
  handleCalls: (server, answer) =>
    (server as Server).setRequestHandler('tools/call', async ({ params }) => ({
      ...(answer(params.name) as { content: [{ type: 'text'; text: string }] }),
    })),
  signalOf: (ctx) => (ctx as ServerContext).mcpReq.signal,
  errorMessage: (_code, text) => text,
} satisfies Partial<Sdk>

/** Version 2 of the SDK, with clients of the protocol 2025-11-25. */
export const sdk2: Sdk = {
  ...common,
  name: 'SDK 2',
  sessions: true,
  async connect(server) {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await (server as unknown as McpServer).connect(far)
    return connectTo(near)
  },
  connectToProcess: (args, cwd) =>
    connectTo(new StdioClientTransport({ command: process.execPath, args: [...args], cwd })),
  connectToUrl: (url, headers) =>
    connectTo(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })),
  serveStdio: (newServer) => void (newServer() as unknown as McpServer).connect(new StdioServerTransport()),
  httpListener(newServer, sessions) {
    const open = new Map<string, NodeStreamableHTTPServerTransport>()
    return async (req, res) => {
      const known = open.get(String(req.headers['mcp-session-id']))
      if (known) return known.handleRequest(req, res)
      const transport = new NodeStreamableHTTPServerTransport({
        ...(sessions && { sessionIdGenerator: randomUUID }),
        onsessioninitialized: (id) => {
          open.set(id, transport)
        },
      })
      const server = newServer() as unknown as McpServer
      if (!sessions) res.once('close', () => void server.close())
      await server.connect(transport)
      await transport.handleRequest(req, res)
    }
  },
}

/** Version 2 of the SDK, with clients of the protocol 2026-07-28. */
export const sdk2Latest: Sdk = {
  ...common,
  name: `SDK 2 with the protocol ${LATEST}`,
  sessions: false,
  async connect(server) {
    const [near, far] = InMemoryTransport.createLinkedPair()
    serveStdio(() => server as unknown as McpServer, { transport: far, legacy: 'reject' })
    return connectTo(near, LATEST)
  },
  connectToProcess: (args, cwd) =>
    connectTo(new StdioClientTransport({ command: process.execPath, args: [...args], cwd }), LATEST),
  connectToUrl: (url, headers) =>
    connectTo(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), LATEST),
  serveStdio: (newServer) => void serveStdio(() => newServer() as unknown as McpServer),
  httpListener(newServer) {
    return toNodeHandler(createMcpHandler(() => newServer() as unknown as McpServer)) as never
  },
}
