import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { limitTools, type McpCall, type ToolLimits } from '@sluice/mcp'

export const limits: ToolLimits = limitTools({
  principal: ({ authInfo }) => authInfo?.extra?.user as string | undefined,
  rateLimit: { limit: 1, window: '1m', key: ({ principal }: McpCall) => principal },
})

const handler = createMcpHandler(() => {
  const tools: McpServer = limits.apply(new McpServer({ name: 'consumer', version: '1.0.0' }))
  tools.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
  return tools
})

const server = createServer(async (_req, res) => {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hello', arguments: {} } }),
  })
  const reply = await (await handler.fetch(request)).text()
  const retryAfterMs = Number(/"retryAfterMs":(\d+)/.exec(reply)?.[1])
  if (reply.includes('"isError":true')) res.writeHead(429, { 'retry-after': String(retryAfterMs / 1_000) }).end()
  else res.writeHead(reply.includes('"hello"') ? 200 : 500).end()
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
