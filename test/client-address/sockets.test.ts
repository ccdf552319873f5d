import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ProxyTrust, rateLimit } from '@sluice/node-http'
import { eachSeed, Warnings } from '@sluice/testkit'
import { forgedHeaders } from './generated/chains.ts'

const LIMIT = 3
const servers: Server[] = []
const warnings = new Warnings()

beforeEach(() => warnings.listen())
afterEach(() => {
  warnings.stop()
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function listening(server: Server): Promise<number> {
  servers.push(server)
  await once(server.listen(0), 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends a request from an address of this machine. */
function ask(port: number, localAddress: string, headers: OutgoingHttpHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, localAddress, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject).end()
  })
}

type Forward = (headers: IncomingHttpHeaders, peer: string) => OutgoingHttpHeaders

const appends: Forward = (headers, peer) => {
  const before = headers['x-forwarded-for']
  return { ...headers, 'x-forwarded-for': before === undefined ? peer : `${before}, ${peer}` }
}
const edge: Forward = (headers, peer) => ({ ...appends(headers, peer), 'cf-connecting-ip': peer, 'cf-ray': 'x' })
const forwarded: Forward = (headers, peer) => {
  const element = `for="${peer}:4711";proto=http`
  return { ...headers, forwarded: headers.forwarded === undefined ? element : `${headers.forwarded}, ${element}` }
}
const replaces: Forward = (headers, peer) => ({ ...headers, 'x-real-ip': peer })

const chains: readonly (readonly [string, readonly (readonly [Forward, (address: string) => ProxyTrust])[]])[] = [
  ['nginx', [[appends, (at) => ({ preset: 'nginx', ranges: [at] })]]],
  ['Cloudflare', [[edge, (at) => ({ preset: 'cloudflare', ranges: [`::ffff:${at}`] })]]],
  ['a proxy with Forwarded', [[forwarded, (at) => ({ ranges: [at], header: 'Forwarded' })]]],
  ['a proxy with X-Real-IP', [[replaces, (at) => ({ ranges: [at], header: 'X-Real-IP' })]]],
  [
    'Cloudflare > nginx > nginx',
    [
      [edge, (at) => ({ preset: 'cloudflare', ranges: [at] })],
      [appends, (at) => ({ preset: 'nginx', ranges: [at] })],
      [appends, (at) => ({ preset: 'nginx', ranges: [at] })],
    ],
  ],
  [
    'nginx > Cloudflare > Forwarded > nginx',
    [
      [appends, (at) => ({ preset: 'nginx', ranges: [at] })],
      [edge, (at) => ({ preset: 'cloudflare', ranges: [at] })],
      [forwarded, (at) => ({ ranges: [at], header: 'Forwarded' })],
      [appends, (at) => ({ preset: 'nginx', ranges: [at] })],
    ],
  ],
]

/** Starts the proxies of a chain, the one next to the application last, and returns the port of the first one. */
async function startChain(
  chain: (typeof chains)[number][1],
): Promise<{ readonly first: number; readonly app: number }> {
  const trust = chain.map(([, entry], index) => entry(`127.0.0.${index + 2}`))
  const limit = rateLimit({ limit: LIMIT, window: '1m', trust })
  const app = await listening(http.createServer(limit.wrap((_req, res) => void res.end('ok'))))
  let next = app
  for (const [index, [forward]] of [...chain.entries()].reverse()) {
    const port = next
    const proxy = http.createServer(async (req, res) => {
      const peer = (req.socket.remoteAddress ?? '').replace('::ffff:', '')
      res.statusCode = await ask(port, `127.0.0.${index + 2}`, forward(req.headers, peer))
      res.end()
    })
    next = await listening(proxy)
  }
  return { first: next, app }
}

describe('over sockets, each client has its own limit, and gets no other by headers', () => {
  test.each(chains)('%s', async (_name, chain) => {
    const { first, app } = await startChain(chain)
    let host = 1
    await eachSeed(6, async (random) => {
      // the second client passes the proxies
      for (const port of [first, app]) {
        const client = `127.0.1.${host++}`
        const statuses: number[] = []
        for (let index = 0; index < LIMIT + 3; index++) statuses.push(await ask(port, client, forgedHeaders(random)))
        expect(statuses).toEqual([...Array(LIMIT).fill(200), 429, 429, 429])
      }
    })
  })
})
