import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { limitTools, type McpCall, type ToolLimits } from '@sluice/mcp'

export const limits: ToolLimits = limitTools({
  principal: ({ authInfo }) => authInfo?.extra?.user as string | undefined,
  rateLimit: {
    limit: 1,
    window: '1m',
    key: ({ principal }: McpCall) => principal,
    skip: ({ tool }) => tool === 'ping',
  },
  tools: {
    ping: false,
    report: { inflightLimit: { limit: 2 }, rateLimit: { name: 'report', limit: 1, window: '1h' } },
  },
})

const tools: McpServer = limits.apply(new McpServer({ name: 'consumer', version: '1.0.0' }))
tools.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
const client = new Client({ name: 'consumer', version: '1.0.0' })
const [near, far] = InMemoryTransport.createLinkedPair()

const server = createServer(async (_req, res) => {
  const { isError, _meta: meta } = await client.callTool({ name: 'hello', arguments: {} })
  res.writeHead(isError ? 429 : 200, isError ? { 'retry-after': String(Number(meta?.retryAfterMs) / 1_000) } : {}).end()
})
Promise.all([tools.connect(far), client.connect(near)]).then(() => {
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
})
process.stdin.resume().once('end', () => server.close())
