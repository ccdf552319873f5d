import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { connect, constants, createServer as createServer2 } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createLimiter, limitUpgrade, memoryBackend, type RequestSluice, rateLimit } from '@sluice/node-http'
import { createRedis, redisBackend } from '@sluice/redis'
import { FakeClock, until, Warnings, Watcher } from '@sluice/testkit'
import { WebSocket, WebSocketServer } from 'ws'
import { eventually } from '../services/eventually.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

const open: Server[] = []
let server: RedisServer
let redis: ReturnType<typeof createRedis>

beforeAll(async () => {
  server = await startRedis()
  // a busy machine may stand still for longer than the default of 1 s
  redis = createRedis({ port: server.port, socketTimeout: 20_000 })
})
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})
afterAll(async () => {
  await redis.quit()
  await server.stop()
})

type Limit = ReturnType<typeof rateLimit>
type Handler = (sluice: RequestSluice, res: ServerResponse, req: IncomingMessage) => unknown

async function serve(limit: Limit, handler: Handler, create = createServer): Promise<string> {
  const listener: RequestListener = (req, res) => limit(req, res, () => handler(req.sluice as RequestSluice, res, req))
  const http = create(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  open.push(http)
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
}

const tokens = { name: 'tokens', limit: 10, window: '1h', unit: 'tokens', maxHoldMs: '10m', key: () => 'a' } as const
const cost = { reserve: 2, extend: 'stream' } as const
const EVENTS = { 'content-type': 'text/event-stream' }

test('a hold of a running stream is renewed, and its timer stops at the end', async () => {
  const clock = new FakeClock()
  const backend = memoryBackend({ clock })
  const limit = rateLimit({ ...tokens, window: '1m', backend, shared: true, clock, cost: { ...cost, reserve: 10 } })
  const { key: _key, ...policy } = tokens
  const limiter = createLimiter({ policies: [{ ...policy, window: '1m' }], backend, shared: true, clock })
  const left = (): number => limiter.peek('a').binding.remaining
  let finish = (): void => {}
  const url = await serve(limit, async (sluice, res) => {
    res.writeHead(200, EVENTS).write('data: 1\n\n')
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    await sluice.used(4)
    res.end()
  })
  const response = await fetch(url)
  for (let minutes = 5; minutes <= 60; minutes += 5) {
    clock.advance(5 * 60_000)
    expect(left()).toBe(0)
  }
  finish()
  await response.text()
  await until(() => clock.pending === 0)
  await until(() => left() === 6)
  limit.close()
})

test('on Redis, one extension at a time holds what the handler reports without waiting', async () => {
  const watcher = new Watcher()
  const limit = rateLimit({
    ...tokens,
    limit: 1_000,
    backend: redisBackend(redis, { prefix: 'streams:' }),
    deadlineMs: 20_000,
    observers: [watcher],
    cost: { ...cost, extendBy: 100 },
  })
  const url = await serve(limit, async (sluice, res) => {
    res.writeHead(200, EVENTS)
    const answers = []
    for (let token = 1; token <= 500; token++) answers.push(sluice.used(1))
    res.write(`data: ${(await Promise.all(answers)).every((one) => one)}\n\n`)
    const seen = (): string =>
      JSON.stringify(watcher.decisions.map(({ allowed, source, binding }) => [allowed, source, binding.remaining]))
    if (!(await sluice.used(400))) throw new Error(`400 units are left, and refused: ${seen()}`)
    expect(await sluice.used(201)).toBe(false)
  })
  const text = await (await fetch(url)).text()
  expect(text).toMatch(/^data: true\n\n\n\nevent: error\ndata: \{"error":\{"code":"budget_exhausted"/)
  // the hold, 100 units for two reports, 500 for those in the meantime, and 300 with 100 for the last one
  expect(watcher.decisions.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(4)
  expect(watcher.decisions.filter(({ allowed }) => !allowed)).toHaveLength(1)
  // the client may have read the end before the used units are charged
  await eventually(async () => (await fetch(url)).status === 429, { what: 'a denial' })
  limit.close()
})

test('the last units of a limit are held, although they are fewer than a step', async () => {
  const limit = rateLimit({ ...tokens, limit: 100, cost: { ...cost, reserve: 10, extendBy: 60 } })
  let admitted = 0
  const url = await serve(limit, async (sluice, res) => {
    res.writeHead(200, EVENTS)
    while (await sluice.used(1)) admitted++
  })
  expect(await (await fetch(url)).text()).toContain('budget_exhausted')
  expect(admitted).toBe(100)
  limit.close()
})

test('each policy has its own units, and the error names the policy that ran out', async () => {
  const limit = rateLimit({
    key: () => 'a',
    policies: [
      { name: 'requests', limit: 9, window: '1m' },
      { name: 'tokens', limit: 100, window: '1m', maxHoldMs: '1m', cost: { reserve: 10, extend: 'stream' } },
      { name: 'money', limit: 1_000, window: '1d', maxHoldMs: '1m', cost: { reserve: 400, extend: 'stream' } },
    ],
  })
  const spent: unknown[] = []
  const url = await serve(limit, (sluice, res) => {
    res.writeHead(200, EVENTS)
    while (!sluice.exhausted.aborted) {
      spent.push([sluice.used(5, 'tokens'), sluice.used(250, 'money')])
    }
    // the response has ended
    res.write('data: late\n\n')
    res.end()
  })
  expect(await (await fetch(url)).text()).toContain('"violated-policies":["money"]')
  // two steps of 400 are held, then the remaining 200
  expect(spent).toEqual([
    [true, true],
    [true, true],
    [true, true],
    [true, true],
    [true, false],
  ])
  limit.close()
})

test('a handler can end its response itself when the signal is aborted, and learns from `used` that its request has ended', async () => {
  const limit = rateLimit({ ...tokens, cost })
  let late: unknown
  const url = await serve(limit, (sluice, res) => {
    res.writeHead(200, EVENTS)
    sluice.exhausted.addEventListener('abort', () => res.end('data: [LIMIT]\n\n'))
    expect(sluice.used(10)).toBe(true)
    expect(sluice.used(1)).toBe(false)
    res.once('close', () => {
      late = sluice.used(1)
    })
  })
  expect(await (await fetch(url)).text()).toBe('data: [LIMIT]\n\n')
  await until(() => late === false)
  limit.close()
})

test('a response that has not started is left to its handler', async () => {
  const limit = rateLimit({ ...tokens, cost })
  const url = await serve(limit, (sluice, res) => {
    expect([sluice.used(11), sluice.exhausted.aborted]).toEqual([false, true])
    res.statusCode = 507
    res.end('too long')
  })
  const response = await fetch(url)
  expect([response.status, await response.text()]).toEqual([507, 'too long'])
  limit.close()
})

test('writes that follow the end of an event stream are dropped, also without limit headers', async () => {
  const limit = rateLimit({ ...tokens, headers: 'none', cost })
  const url = await serve(limit, (sluice, res) => {
    res.writeHead(200, EVENTS)
    res.write('data: unfinished')
    sluice.used(11)
    for (let times = 0; times < 3; times++) res.write('data: more\n\n')
    setImmediate(() => res.write('data: much later\n\n'))
  })
  const text = await (await fetch(url)).text()
  expect(text.split('\n\n')).toEqual(['data: unfinished', expect.stringMatching(/^event: error\ndata: \{/), ''])
  limit.close()
})

test.each(['text/event-stream', 'text/plain'])('a response of HTTP/2 with the type %s is ended', async (type) => {
  const limit = rateLimit({ ...tokens, cost })
  const url = await serve(
    limit,
    (sluice, res) => {
      res.writeHead(200, { 'content-type': type })
      res.write('data: 1\n\n')
      sluice.used(11)
      res.write('data: 2\n\n')
    },
    createServer2 as unknown as typeof createServer,
  )
  const session = connect(url)
  const stream = session.request({ ':path': '/' })
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  stream.on('error', () => {})
  await new Promise<void>((resolve) => stream.once('close', resolve))
  if (type === 'text/plain') expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
  else expect(text).toMatch(/^data: 1\n\n\n\nevent: error\n/)
  session.destroy()
  limit.close()
})

test('a manual extension counts, a settled policy is not extended, and invalid units are warned about', async () => {
  const warnings = new Warnings()
  warnings.listen()
  const watcher = new Watcher()
  const limit = rateLimit({ ...tokens, observers: [watcher], cost })
  const url = await serve(limit, async (sluice, res) => {
    expect(sluice.extend(6)).toBe(true)
    expect([sluice.used(Number.NaN), sluice.used(-1), sluice.used(7)]).toEqual([true, true, true])
    expect(watcher.decisions).toHaveLength(2)
    expect(sluice.used(1, 'other')).toBe(true)
    sluice.settle(9)
    expect(sluice.used(50)).toBe(true)
    res.end('done')
  })
  expect(await (await fetch(url)).text()).toBe('done')
  warnings.stop()
  expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED', 'SLUICE_UNKNOWN_POLICY'])
  expect((await fetch(url)).status).toBe(429)
  limit.close()
})

test('a socket reports what its messages use until it closes', async () => {
  const backend = memoryBackend()
  const { key, ...policy } = tokens
  const limiter = createLimiter({ policies: [policy], backend, shared: true })
  const sockets = new WebSocketServer({ noServer: true })
  const upgrades = limitUpgrade(
    { rateLimit: { ...policy, key, backend, shared: true, cost } },
    (req: IncomingMessage, socket, head) => {
      sockets.handleUpgrade(req, socket, head, (ws) => {
        req.sluice?.exhausted.addEventListener('abort', () => ws.close(1013))
        ws.on('message', () => req.sluice?.used(3))
      })
    },
  )
  const http = createServer().on('upgrade', upgrades)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  open.push(http)
  const socketTo = (): WebSocket => new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/`)
  const left = (): number => limiter.peek('a').binding.remaining

  const short = socketTo()
  short.once('open', () => short.send('a message'))
  await until(() => left() === 6)
  short.close()
  await until(() => left() === 7)
  const long = socketTo()
  long.once('open', () => {
    for (let message = 1; message <= 3; message++) long.send('a message')
  })
  const [code] = await once(long, 'close')
  expect(code).toBe(1013)
  await until(() => left() === 0)
  upgrades.close()
})
