import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import { connect, createServer as createHttp2Server, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { counterService, createCounters } from '@sluice/counters'
import { createGossip } from '@sluice/gossip'
import { dashboard } from '@sluice/insight'
import { WatchedFleet } from '../../insight/page/simulated-fleet.ts'

const counters = createCounters()
const node = createGossip({ peers: [] })
afterAll(() => Promise.all([counters.close(), node.close()]))

/** Each service without a token, with a path and the status of a GET request from this machine. */
const services = [
  ['the live page', dashboard({ insight: new WatchedFleet() }), '/', 200],
  ['the counter service', counterService({ counters }), '/healthz', 200],
  // which accepts POST only
  ['the gossip handler', node.handler.bind(node), '/', 405],
] as const

describe.each(services)('%s without a token', (_, listener, path, accepted) => {
  // the types of HTTP/1 requests do not match those of Node's HTTP/2 compatibility layer
  const servers: Server[] = [createServer(listener), createHttp2Server(listener as never) as unknown as Server]
  beforeAll(() => Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening'))))
  afterAll(() => {
    for (const server of servers) server.close()
  })
  const port = (server: Server): number => (server.address() as AddressInfo).port
  const status = (headers: IncomingHttpHeaders) => statusOverHttp1(port(servers[0]), path, headers)
  const statusOver2 = (headers: OutgoingHttpHeaders) => statusOverHttp2(port(servers[1]), path, headers)

  test.each(['localhost', 'LOCALHOST:3000', 'app.localhost:3000', '127.0.0.1', '127.9.8.7:80', '[::1]:3000'])(
    'accepts requests from this machine to %s, over HTTP/1.1 and HTTP/2',
    async (host) => {
      expect(await status({ host })).toBe(accepted)
      expect(await statusOver2({ ':authority': host })).toBe(accepted)
    },
  )

  test.each([
    'rebound.example',
    'localhost.example',
    'app.localhost.example',
    '127.0.0.1.example',
    '10.0.0.1',
    '[::2]',
  ])('rejects requests to %s, over HTTP/1.1 and HTTP/2', async (host) => {
    expect(await status({ host })).toBe(403)
    expect(await statusOver2({ ':authority': host })).toBe(403)
  })

  test('rejects an HTTP/2 request that names two different hosts', async () => {
    expect(await statusOver2({ ':authority': 'localhost', host: 'rebound.example' })).toBe(403)
    expect(await statusOver2({ ':authority': 'rebound.example', host: 'localhost' })).toBe(403)
  })

  test.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'])(
    'rejects requests with the proxy header %s, over HTTP/1.1 and HTTP/2',
    async (name) => {
      expect(await status({ host: 'localhost', [name]: '127.0.0.1' })).toBe(403)
      expect(await statusOver2({ ':authority': 'localhost', [name]: '127.0.0.1' })).toBe(403)
    },
  )

  test('rejects requests of web pages of other sites, over HTTP/1.1 and HTTP/2', async () => {
    const origin = 'http://other.example'
    expect(await status({ host: 'localhost', origin })).toBe(403)
    expect(await statusOver2({ ':authority': 'localhost', origin })).toBe(403)
  })
})

test('the live page accepts requests of its own scripts over HTTP/2', async () => {
  const server = createHttp2Server(dashboard({ insight: new WatchedFleet() }) as never)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const authority = `localhost:${port}`
  expect(await statusOverHttp2(port, '/', { ':authority': authority, origin: `http://${authority}` })).toBe(200)
  server.close()
})

async function statusOverHttp1(port: number, path: string, headers: IncomingHttpHeaders): Promise<number | undefined> {
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

async function statusOverHttp2(port: number, path: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const session = connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':path': path, ...headers })
  const [response] = await once(stream, 'response')
  stream.resume()
  session.destroy()
  return response[':status']
}
