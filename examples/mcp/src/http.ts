import { createServer, type RequestListener, type Server } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'

/** Clients by access token. Replace this with the verification of the tokens of your authorization server. */
const CLIENTS = new Map([
  ['anna-token', 'anna'],
  ['bert-token', 'bert'],
])

/** Serves MCP over HTTP at any path. Each request has its own MCP server. */
export function createHttpServer(newServer: () => McpServer): Server {
  // its own type does not fit IncomingMessage with exactOptionalPropertyTypes
  const handle = toNodeHandler(createMcpHandler(newServer, { onerror: console.error })) as RequestListener
  return createServer((req, res) => {
    const token = req.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const clientId = CLIENTS.get(token)
    if (clientId === undefined) {
      res.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end('use one of the tokens anna-token and bert-token\n')
      return
    }
    handle(Object.assign(req, { auth: { token, clientId, scopes: [] } }), res)
  })
}
