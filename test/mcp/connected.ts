import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** Returns a server without tools. */
export function newServer(): McpServer {
  return new McpServer({ name: 'test', version: '1.0.0' })
}

/** Registers a tool that returns its text, and whose result has the number of words of the text in `_meta`. */
export function addEcho(server: McpServer, name: string): ReturnType<McpServer['registerTool']> {
  return server.registerTool(name, { inputSchema: { text: z.string().optional() } }, async ({ text = '' }) => ({
    content: [{ type: 'text', text }],
    _meta: { words: text.split(' ').length },
  }))
}

/** Connects a client to a server in this process. */
export async function connect(server: Pick<Server | McpServer, 'connect'>): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  return connectTo(near)
}

export async function connectTo(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  return client
}

/** Calls a tool, and returns the text of its result, or `denied: <text>` if the result is an error. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = (await client.callTool({ name, arguments: args })) as CallToolResult
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  return isError ? `denied: ${text}` : text
}

/** Calls a tool several times, one after the other. Returns the number of results that are no errors. */
export async function allowed(client: Client, name: string, times: number): Promise<number> {
  let count = 0
  for (let time = 0; time < times; time++) if (!(await call(client, name)).startsWith('denied')) count++
  return count
}
