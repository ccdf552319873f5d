import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { CappedServer } from './capped-server.ts'
import { frameworks } from './frameworks/frameworks.ts'

const REQUESTS = 400
const SOCKETS = 20
// Node and the frameworks add at most five listeners themselves; Node warns from ten
const MAX_LISTENERS = 8

function most(emitter: IncomingMessage | ServerResponse | Socket): number {
  return Math.max(...emitter.eventNames().map((name) => emitter.listenerCount(name)))
}

test.each(Object.entries(frameworks))(
  `%s keeps the listeners flat over ${REQUESTS} requests on ${SOCKETS} connections`,
  async (_name, framework) => {
    let atMost = 0
    const capped = await CappedServer.of(framework, (req, res) => {
      atMost = Math.max(atMost, most(req), most(res), most(req.socket))
      res.end('ok')
    })
    const sockets = new Set<Socket>()
    capped.server.on('connection', (socket) => sockets.add(socket))
    const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
    let left = REQUESTS
    const visitor = async (): Promise<void> => {
      while (left-- > 0) await get(capped.port, agent)
    }
    await Promise.all(Array.from({ length: SOCKETS }, visitor))
    await capped.allReleased(REQUESTS)
    expect(sockets.size).toBe(SOCKETS)
    expect(atMost).toBeLessThanOrEqual(MAX_LISTENERS)
    // between two requests: Node's listeners, none of on-finished, ours
    const idle = [...sockets].map((socket) => socket.listenerCount('close'))
    expect(Math.max(...idle)).toBeLessThanOrEqual(3)
    agent.destroy()
    await capped.close()
  },
  120_000,
)

function get(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent }, (response) => {
      response.resume().once('end', resolve)
    })
      .once('error', reject)
      .end()
  })
}
