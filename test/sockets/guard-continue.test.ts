import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { byHeader, type ContinueGuardOptions, guardContinue, inflightLimit, rateLimit } from '@sluice/node-http'
import { until, Warnings, Watcher } from '@sluice/testkit'
import express from 'express'
import { RawClient } from '../leaks/raw-client.ts'

const warnings = new Warnings()
let server: Server
let received = 0

beforeEach(() => {
  warnings.listen()
  received = 0
})
afterEach(async () => {
  warnings.stop()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** Responds with the number of bytes read. */
const reading: RequestListener = async (req, res) => {
  let bytes = 0
  // a client may disconnect
  await pipeline(req, async (chunks) => {
    for await (const chunk of chunks) bytes += (chunk as Buffer).length
  }).catch(() => {})
  received += bytes
  res.end(`read ${bytes}`)
}

async function guarded(options: ContinueGuardOptions, listener: RequestListener = reading) {
  server = createServer(listener)
  const guard = guardContinue(server, options)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return guard
}

function port(): number {
  return (server.address() as AddressInfo).port
}

const HEAD = 'POST /upload HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n'

/** Sends a request with Expect: 100-continue, and its body if the server agrees. Returns all received text. */
async function upload(headers = '', body = 'bytes'): Promise<string> {
  const client = await RawClient.to(port())
  client.send(`${HEAD}${headers}Connection: close\r\n\r\n`)
  await until(() => client.heard !== '', { what: 'an answer' })
  if (client.heard.startsWith('HTTP/1.1 100')) client.send(body)
  await client.closed()
  return client.heard
}

const once1m = { limit: 1, window: '1m' } as const
const CONTINUED = /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK[\s\S]*read 5/

describe('a request that expects 100 Continue', () => {
  test('gets 100 Continue if it is admitted, and its denial before the upload otherwise', async () => {
    await guarded({ rateLimit: once1m })
    expect(await upload()).toMatch(CONTINUED)
    const denied = await upload()
    expect(denied).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
    expect(denied).toMatch(/\r\nConnection: close\r\n[\s\S]*Quota Exceeded/)
    expect(denied).not.toContain('100 Continue')
    expect(received).toBe(5)
  })

  test('has the headers of its limit on the response, together with those of the application', async () => {
    const own = rateLimit({ name: 'own', limit: 7, window: '1m' })
    await guarded({ rateLimit: { name: 'uploads', limit: 3, window: '1m' } }, own.wrap(reading))
    expect(await upload()).toMatch(/\r\nRateLimit-Policy: "uploads";q=3;w=60, "own";q=7;w=60\r\n/)
    expect(warnings.codes).toEqual([])
  })

  test('is denied by a cap while uploads hold its permits, which are released once', async () => {
    const watcher = new Watcher()
    await guarded({ inflightLimit: { limit: 1, observers: [watcher] } })
    const slow = await RawClient.to(port())
    slow.send(`${HEAD}\r\n`)
    await slow.hears('100 Continue')
    expect(await upload()).toMatch(/^HTTP\/1.1 503/)
    slow.leave()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
    expect(await upload()).toMatch(CONTINUED)
    await until(() => watcher.held === 0, { what: 'the second place to come back' })
    expect([watcher.acquired, watcher.released, watcher.denied]).toEqual([2, 2, 1])
  })

  test('waits for an asynchronous key, and is dropped if its client disconnects in the meantime', async () => {
    const watcher = new Watcher()
    const due: (() => void)[] = []
    const key = (req: IncomingMessage): Promise<string> =>
      new Promise((resolve) => due.push(() => resolve(String(req.url))))
    let requests = 0
    await guarded({ inflightLimit: { limit: 1, key, observers: [watcher] } }, (_req, res) => {
      requests++
      res.end()
    })
    const client = await RawClient.to(port())
    client.send(`${HEAD}\r\n`)
    await until(() => due.length === 1, { what: 'a key that is asked for' })
    client.socket.resetAndDestroy()
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))
    while ((await connections()) > 0) await new Promise(setImmediate)
    due[0]()
    await until(() => watcher.acquired === 1 && watcher.held === 0, { what: 'the place to come back' })
    expect(requests).toBe(0)
  })

  test('is counted by its key, and in shadow mode not denied', async () => {
    const watcher = new Watcher()
    const key = byHeader('x-api-key')
    await guarded({ rateLimit: { ...once1m, key, mode: 'shadow', observers: [watcher] } })
    for (let times = 0; times < 2; times++) expect(await upload('X-Api-Key: a\r\n')).toMatch(CONTINUED)
    expect(watcher.decisions.map(({ verdicts }) => verdicts[0].allowed)).toEqual([true, false])
  })
})

describe('limiters of the application itself', () => {
  test('count a request once, whichever limiter sees it first, without a warning', async () => {
    const watcher = new Watcher()
    const limit = rateLimit({ limit: 2, window: '1m', key: () => 'all', observers: [watcher] })
    const cap = inflightLimit({ limit: 1, observers: [watcher] })
    await guarded({ rateLimit: limit, inflightLimit: cap }, limit.wrap(cap.wrap(reading)))
    expect(await upload()).toMatch(CONTINUED)
    const plain = await fetch(`http://127.0.0.1:${port()}/`, { headers: { connection: 'close' } })
    expect([plain.status, plain.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=0')])
    expect(await upload()).toMatch(/^HTTP\/1.1 429/)
    await until(() => watcher.held === 0, { what: 'the places to come back' })
    expect([watcher.decisions.length, watcher.acquired, watcher.released]).toEqual([3, 2, 2])
    expect(warnings.codes).toEqual([])
  })

  test('hold the permit of a wrapped handler until it is done, even if the guard acquired it', async () => {
    const watcher = new Watcher()
    const cap = inflightLimit({ limit: 1, observers: [watcher] })
    let finish = (): void => {}
    const handler = cap.wrap(async (_req, res) => {
      res.end('early')
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    await guarded({ inflightLimit: cap }, (req, res) => handler(req, res))
    expect(await upload()).toContain('early')
    expect(watcher.held).toBe(1)
    finish()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })

  test('are warned about if they are mounted twice in the application', async () => {
    const limit = rateLimit(once1m)
    await guarded({ rateLimit: once1m }, limit.wrap(limit.wrap(reading)))
    await upload()
    expect(warnings.codes).toEqual(['SLUICE_LIMITER_TWICE'])
  })
})

describe('the guard', () => {
  test('ignores requests without an Expect header', async () => {
    await guarded({ rateLimit: once1m })
    for (let times = 0; times < 3; times++) {
      expect((await fetch(`http://127.0.0.1:${port()}/`, { method: 'POST', body: 'bytes' })).status).toBe(200)
    }
  })

  test('runs before Express like before any listener', async () => {
    const app = express()
    app.post('/upload', (req, res) => void reading(req, res))
    await guarded({ rateLimit: once1m }, app)
    expect(await upload()).toMatch(CONTINUED)
    expect(await upload()).toMatch(/^HTTP\/1.1 429/)
  })

  test('is removed when closed, and leaves limiters passed to it open', async () => {
    const limit = rateLimit({ ...once1m, key: () => 'all' })
    const guard = await guarded({ rateLimit: limit })
    guard.close()
    expect(server.listenerCount('checkContinue')).toBe(0)
    for (let times = 0; times < 2; times++) expect(await upload()).toMatch(CONTINUED)
    expect((await limit.limiter.take('all')).allowed).toBe(true)
    expect((await limit.limiter.take('all')).allowed).toBe(false)
  })

  test('rejects a server that already has a guard, and accepts it once that guard is closed', async () => {
    const guard = await guarded({ rateLimit: once1m })
    const second = (): unknown => guardContinue(server, { rateLimit: once1m })
    expect(second).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
    guard.close()
    expect(second).not.toThrow()
  })

  test('guards HTTP/2 as well', async () => {
    await guarded({ rateLimit: { ...once1m, limit: 9 } })
    const http2 = createHttp2Server((_req, res) => res.end('read'))
    guardContinue(http2, { rateLimit: { ...once1m, key: () => 'all' } })
    await once(http2.listen(0, '127.0.0.1'), 'listening')
    const session = connect(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`)
    const heard: string[] = []
    for (let times = 0; times < 2; times++) {
      const stream = session.request({ ':method': 'POST', expect: '100-continue' }, { endStream: false })
      stream.on('continue', () => heard.push('continue') && stream.end('bytes'))
      const [head] = await once(stream, 'response')
      heard.push(String(head[':status']))
      stream.resume().end()
      await once(stream, 'close')
    }
    expect(heard).toEqual(['continue', '200', '429'])
    expect(warnings.codes).toEqual([])
    session.close()
    http2.close()
    await once(http2, 'close')
  })
})
