import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

/** Clients by access token. Replace this with the verification of the tokens of your authorization server. */
const CLIENTS = new Map([
  ['anna-token', 'anna'],
  ['bert-token', 'bert'],
])

/** Serves MCP over HTTP at any path. Each request has its own MCP server. */
export function createHttpServer(newServer: () => McpServer): Server {
  return createServer((req, res) => {
    answer(newServer, req, res).catch((error: unknown) => {
      console.error(error)
      if (!res.headersSent) res.writeHead(500).end()
    })
  })
}

async function answer(
  newServer: () => McpServer,
  req: IncomingMessage & { auth?: AuthInfo },
  res: ServerResponse,
): Promise<void> {
  const token = req.headers.authorization?.replace(/^Bearer /, '') ?? ''
  const clientId = CLIENTS.get(token)
  if (clientId === undefined) {
    res.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end('use one of the tokens anna-token and bert-token\n')
    return
  }
  req.auth = { token, clientId, scopes: [] }
  const server = newServer()
  const transport = new StreamableHTTPServerTransport()
  res.once('close', () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(req, res)
}
