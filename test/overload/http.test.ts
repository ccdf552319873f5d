import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { inflightLimit as expressLimit } from '@sluice/express'
import { inflightLimit as fetchLimit } from '@sluice/fetch'
import { type AdaptiveLimit, byHeader } from '@sluice/limiter-core'
import { inflightLimit } from '@sluice/node-http'
import { adaptive, createPrioritizer } from '@sluice/overload'
import { until } from '@sluice/testkit'
import express from 'express'
import { close, listen, type Running } from './listening.ts'

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await close(one)
})

async function listening(listener: RequestListener): Promise<string> {
  const started = await listen(listener)
  running.push(started)
  return started.url
}

/** Answers the oldest request that waits for an answer. */
class Handler {
  readonly #waiting: (() => void)[] = []
  readonly admitted: string[] = []

  handle(name: string, answer: () => void): void {
    this.admitted.push(name)
    this.#waiting.push(answer)
  }

  finish(): void {
    this.#waiting.shift()?.()
  }
}

const OPTIONS = {
  limit: 1,
  priority: { header: 'x-priority' },
  fairBy: byHeader('x-client'),
  queue: { max: 10, maxWaitMs: '20s' },
} as const

async function expressServer(handler: Handler, options: object = OPTIONS): Promise<string> {
  const app = express()
  app.use(expressLimit(options as never))
  app.get('/', (req, res) => handler.handle(String(req.headers['x-name']), () => res.send('done')))
  return listening(app)
}

async function plainServer(handler: Handler, options: object = OPTIONS): Promise<string> {
  const limit = inflightLimit(options as never)
  return listening((req, res) =>
    limit(req, res, () => handler.handle(String(req.headers['x-name']), () => res.end('done'))),
  )
}

const ask = (url: string, name: string, priority: string, signal: AbortSignal | null = null): Promise<number> =>
  fetch(url, { headers: { 'x-name': name, 'x-priority': priority }, signal }).then((response) => response.status)

describe.each([
  ['express', expressServer],
  ['node:http', plainServer],
] as const)('inflightLimit with a queue on %s', (_, serve) => {
  test('admits waiting requests by the priority that a header names, an unknown name as normal', async () => {
    const handler = new Handler()
    const prioritizer = createPrioritizer()
    const url = await serve(handler, { ...OPTIONS, queue: { max: 3, maxWaitMs: '20s' }, prioritizer })
    const statuses = [ask(url, 'first', 'normal')]
    await until(() => handler.admitted.length === 1)
    const waiting = ['low', 'urgent', 'critical'].map((name) => ask(url, name, name))
    // the queue is full when it refuses the least important request
    const pushedOut = await Promise.race([waiting[0], ask(url, 'high', 'high').then(() => 0)])
    expect(pushedOut).toBe(503)
    statuses.push(...waiting.slice(1))
    for (const count of [2, 3, 4]) {
      handler.finish()
      await until(() => handler.admitted.length === count)
    }
    handler.finish()
    expect(await Promise.all(statuses)).toEqual([200, 200, 200])
    expect(handler.admitted).toEqual(['first', 'critical', 'high', 'urgent'])
  })

  test('forgets a waiting request whose client has left', async () => {
    const handler = new Handler()
    const answers: string[] = []
    const observers = [{ capDenied: () => void answers.push('denied'), capLeft: () => void answers.push('left') }]
    const url = await serve(handler, { ...OPTIONS, queue: { max: 1, maxWaitMs: '20s' }, observers })
    const first = ask(url, 'first', 'normal')
    await until(() => handler.admitted.length === 1)
    const left = new AbortController()
    const gone = ask(url, 'gone', 'critical', left.signal).catch(() => 0)
    const refused = await ask(url, 'refused', 'low')
    left.abort()
    expect([refused, await gone]).toEqual([503, 0])
    await until(() => answers.length === 2)
    expect(answers).toEqual(['denied', 'left'])
    handler.finish()
    expect(await first).toBe(200)
    const last = ask(url, 'last', 'normal')
    await until(() => handler.admitted.length === 2)
    handler.finish()
    expect(await last).toBe(200)
    expect(handler.admitted).toEqual(['first', 'last'])
  })
})

test('a denial shows the limit that applies at the time', async () => {
  const limit = adaptive({ min: 1, max: 10, initial: 2 })
  const handler = new Handler()
  const url = await expressServer(handler, { limit })
  const held = [ask(url, 'a', ''), ask(url, 'b', '')]
  await until(() => handler.admitted.length === 2)
  const denied = await fetch(url)
  expect([denied.status, denied.headers.get('ratelimit-policy')]).toEqual([
    503,
    '"inflight";q=2;qu="concurrent-requests"',
  ])
  handler.finish()
  handler.finish()
  expect(await Promise.all(held)).toEqual([200, 200])
})

test('requests that the handler of a fetch server refuses teach an adaptive limit nothing', async () => {
  const limit = adaptive({ min: 1, max: 100, initial: 2 })
  const seen: number[] = []
  const cap = fetchLimit({ limit, observers: [{ permitAcquired: (_key, shown) => void seen.push(shown.limit) }] })
  const serve = cap.wrap(() => new Response('no', { status: 404 }))
  for (let request = 0; request < 200; request++) {
    const response = await serve(new Request('http://localhost/'))
    await response.text()
  }
  expect(new Set(seen)).toEqual(new Set([2]))
})

test.each([
  [{ priority: 'high' }, 'priority: expected an object of options'],
  [{ priority: { header: 'not a name' } }, 'priority.header: expected the name of a header'],
  [{ fairBy: 3 }, 'key'],
  [{ queue: { max: 1 } }, 'queue.maxWaitMs'],
  [{ queue: { max: 1, maxWaitMs: 10 }, backend: { acquire: () => {} } }, 'backend: expected none with priority'],
  [{ limit: adaptive(), weight: 501 }, 'weight: expected at most 500'],
])('inflightLimit(%j) is refused', (options, message) => {
  expect(() => inflightLimit({ limit: 1, ...options } as never)).toThrow(message)
})

describe('the class of a request of an adaptive cap', () => {
  /** An adaptive limit that records the classes of requests. */
  function recording(classes: (string | undefined)[]): AdaptiveLimit {
    const begin = (_key: string, request?: { workClass?: string | undefined }): (() => void) => {
      classes.push(request?.workClass)
      return () => {}
    }
    return { min: 1, max: 9, initial: 9, open: () => ({ limitOf: () => 9, begin }) }
  }

  async function classesOf(mount: (limit: AdaptiveLimit) => RequestListener): Promise<(string | undefined)[]> {
    const classes: (string | undefined)[] = []
    const url = await listening(mount(recording(classes)))
    for (const path of ['/', '/api//users/17/orders?x=1', '/api/users/18', `/files/${'x'.repeat(40)}`])
      await fetch(new URL(path, url))
    return classes
  }

  test('is the method and the beginning of the path without ids in front of a router', async () => {
    const expected = ['GET ', 'GET api/users/:', 'GET api/users/:', 'GET files/:']
    const inFront = (limit: AdaptiveLimit): RequestListener => {
      const app = express()
      app.use(expressLimit({ limit, workClass: 'route' }))
      app.use((_req, res) => void res.send('done'))
      return app
    }
    expect(await classesOf(inFront)).toEqual(expected)
    const alone = (limit: AdaptiveLimit): RequestListener => {
      const cap = inflightLimit({ limit, workClass: 'route' })
      return (req, res) => cap(req, res, () => res.end('done'))
    }
    expect(await classesOf(alone)).toEqual(expected)
  })

  test('is the method and the route behind a router', async () => {
    const behind = (limit: AdaptiveLimit): RequestListener => {
      const app = express()
      app.get('/api/users/:id', expressLimit({ limit, workClass: 'route' }), (_req, res) => void res.send('done'))
      return app
    }
    expect(await classesOf(behind)).toEqual(['GET /api/users/:id'])
  })

  test('is what workClass returns, or the route if it fails', async () => {
    const names = ['fast', 17, Promise.resolve('slow')]
    const named = (limit: AdaptiveLimit): RequestListener => {
      const cap = inflightLimit({ limit, workClass: () => names.shift() as never })
      return (req, res) => cap(req, res, () => res.end('done'))
    }
    expect(await classesOf(named)).toEqual(['fast', 'GET api/users/:', 'slow', 'GET files/:'])
  })
})
