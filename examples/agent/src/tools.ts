import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const GOODS = ['green tea', 'black tea', 'coffee', 'cocoa']

/** Connects a client to an MCP server with the tools `search`, `read` and `note`. */
export async function connectTools(): Promise<Client> {
  const server = new McpServer({ name: 'catalog', version: '1.0.0' })
  const notes: string[] = []
  server.registerTool('search', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) =>
    asText(GOODS.filter((name) => name.includes(text)).join('\n') || 'nothing was found, try again'),
  )
  server.registerTool('read', { inputSchema: z.object({ name: z.string() }) }, async ({ name }) =>
    asText(`${name} is sold in bags of 100 g. `.repeat(20)),
  )
  server.registerTool('note', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) =>
    asText(`note ${notes.push(text)} was saved`),
  )
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(near)
  return client
}

function asText(text: string): { content: [{ type: 'text'; text: string }] } {
  return { content: [{ type: 'text', text }] }
}
