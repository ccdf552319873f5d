import { randomUUID } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Sdk, TestClient, TestServer, ToolResult } from './sdk.ts'

type Connectable = Pick<Server | McpServer, 'connect' | 'close'>

async function connectTo(transport: Transport): Promise<TestClient> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  return {
    callTool: (name, args = {}, signal) =>
      client.callTool({ name, arguments: { ...args } }, undefined, {
        ...(signal && { signal }),
      }) as Promise<ToolResult>,
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    readResource: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  }
}

/** Version 1 of the SDK. */
export const sdk1: Sdk = {
  name: 'SDK 1',
  sessions: true,
  newServer: () => new McpServer({ name: 'test', version: '1.0.0' }) as unknown as TestServer,
  newLowLevelServer: () => new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } }),
  handleCalls: (server, answer) =>
    (server as Server).setRequestHandler(CallToolRequestSchema, async ({ params }) => ({ ...answer(params.name) })),
  signalOf: (extra) => (extra as { signal: AbortSignal }).signal,
  errorMessage: (code, text) => `MCP error ${code}: ${text}`,
  async connect(server) {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await (server as unknown as Connectable).connect(far)
    return connectTo(near)
  },
  connectToProcess: (args, cwd) =>
    connectTo(new StdioClientTransport({ command: process.execPath, args: [...args], cwd })),
  connectToUrl: (url, headers) =>
    connectTo(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })),
  serveStdio: (newServer) => void (newServer() as unknown as Connectable).connect(new StdioServerTransport()),
  httpListener(newServer, sessions) {
    const open = new Map<string, StreamableHTTPServerTransport>()
    return async (req, res) => {
      const known = open.get(String(req.headers['mcp-session-id']))
      if (known) return known.handleRequest(req, res)
      const transport = new StreamableHTTPServerTransport({
        ...(sessions && { sessionIdGenerator: randomUUID }),
        onsessioninitialized: (id) => {
          open.set(id, transport)
        },
      })
      const server = newServer() as unknown as Connectable
      if (!sessions) res.once('close', () => void server.close())
      await server.connect(transport)
      await transport.handleRequest(req, res)
    }
  },
}
