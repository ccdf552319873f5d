import { createServer, type IncomingMessage, type Server } from 'node:http'
import { byIp, type Clock, clientKey, createSluice, limitConnections, limitUpgrade } from '@sluice/node-http'
import { WebSocketServer } from 'ws'

const limits = {
  connections: '100 TCP connections per address',
  handshakes: '30 in 1 minute per address',
  sockets: '1,000 open in the process, 5 per address',
  messages: '20 in 10 s per address; clients that keep sending are closed with 1013',
}

export interface Echo {
  readonly server: Server
  readonly sockets: WebSocketServer
}

/** An echo server with limits on handshakes, open sockets and messages of each client. */
export function createEcho(clock?: Clock): Echo {
  const { limiter, rateLimit } = createSluice({ clock })
  const page = rateLimit({ name: 'page', limit: 60, window: '1m' })
  const server = createServer(
    page.wrap((_req, res) => {
      res.setHeader('Content-Type', 'application/json')
      res.end(`${JSON.stringify(limits)}\n`)
    }),
  )
  limitConnections(server, { limit: 100, key: byIp() })

  const sockets = new WebSocketServer({ noServer: true, maxPayload: 16 * 1024 })
  const upgrades = limitUpgrade(
    {
      rateLimit: { name: 'handshakes', limit: 30, window: '1m', clock },
      inflightLimit: [
        { name: 'sockets', limit: 1_000, clock },
        { name: 'sockets-of-a-client', limit: 5, key: byIp(), status: 429, clock },
      ],
    },
    (req, socket, head) => {
      sockets.handleUpgrade(req, socket, head, (ws) => sockets.emit('connection', ws, req))
    },
  )
  server.on('upgrade', upgrades)

  const messages = limiter({ policies: [{ name: 'messages', limit: 20, window: '10s' }] })
  sockets.on('connection', (ws, req) => {
    const client = clientOf(req)
    let denials = 0
    ws.on('error', () => {})
    ws.on('message', (data) => {
      const { allowed, retryAfterMs } = messages.take(client)
      if (allowed) ws.send(String(data))
      else if (++denials <= 5) ws.send(JSON.stringify({ error: 'too many messages', retryAfterMs }))
      else ws.close(1013, 'too many messages')
    })
  })
  return { server, sockets }
}

/** All sockets of one client share one message limit. */
function clientOf({ socket }: IncomingMessage): string {
  return clientKey(socket.remoteAddress)
}
