import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { adaptiveThrottle, throttled } from '@sluice/overload'
import { FakeClock, until } from '@sluice/testkit'
import { close, listen, type Running } from '../listening.ts'

let upstream: Running
let other: Running
let clock: FakeClock
let statuses: number[]
let headers: Record<string, string>
let seen: { method: string | undefined; body: string }[]

/** Settles `sent` and moves the clock to each timer that it waits for. */
async function played<T>(sent: Promise<T>, stepMs = 100): Promise<T> {
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  sent.then(settle, settle)
  await until(
    () => {
      if (clock.pending > 0) clock.advance(stepMs)
      return isSettled
    },
    { what: 'the request to end' },
  )
  return sent
}

beforeEach(async () => {
  clock = new FakeClock()
  statuses = []
  headers = {}
  seen = []
  upstream = await listen(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    seen.push({ method: req.method, body })
    const status = statuses.shift() ?? 200
    if (status === 0) req.socket.destroy()
    else if (status !== -1) res.writeHead(status, status === 200 ? {} : headers).end('body')
  })
  other = await listen((_req, res) => res.end('other'))
})
afterEach(async () => {
  await close(upstream)
  await close(other)
})

const failing = (status: number, times: number): void => {
  statuses = Array(times).fill(status)
}

describe('adaptiveThrottle of fetch', () => {
  test.each([429, 503, 0])('stops sending to an origin that answers %d, and to no other', async (status) => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, retries: 0, random: () => 0 })
    failing(status, 100)
    for (let sent = 0; sent < 8; sent++) await fetch(upstream.url).catch(() => {})
    await expect(fetch(upstream.url)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED', retryAfterMs: 0 })
    expect(seen).toHaveLength(8)
    expect(await (await fetch(new URL(other.url))).text()).toBe('other')
    expect(await (await fetch(new Request(other.url))).text()).toBe('other')
  })

  test.each([200, 304, 404, 500, 502])('counts the status %d as accepted', async (status) => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => 0 })
    failing(status, 20)
    for (let sent = 0; sent < 20; sent++) expect((await fetch(upstream.url)).status).toBe(status)
  })

  test('does not count aborted requests, and counts timeouts', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => 0 })
    failing(-1, 40)
    for (const reason of [undefined, new Error('left')]) {
      for (let sent = 0; sent < 10; sent++) {
        const controller = new AbortController()
        const answer = fetch(upstream.url, { signal: controller.signal })
        controller.abort(reason)
        await expect(answer).rejects.toThrow(reason?.message ?? /aborted/)
      }
    }
    for (let sent = 0; sent < 8; sent++) {
      await expect(fetch(upstream.url, { signal: AbortSignal.timeout(1) })).rejects.toThrow(/timeout/)
    }
    await expect(fetch(upstream.url)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
  })

  test('requests in flight do not count yet', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => 0 })
    const sent = Array.from({ length: 50 }, () => fetch(upstream.url))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(50).fill(200))
  })

  test('requests refused because of Retry-After do not count, so that all are sent afterwards', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, retries: 0, random: () => 0 })
    headers = { 'retry-after': '5' }
    failing(503, 1)
    await fetch(upstream.url)
    for (let refused = 0; refused < 100; refused++) {
      await expect(fetch(upstream.url)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED', retryAfterMs: 5_000 })
    }
    clock.advance(5_000)
    for (let sent = 0; sent < 50; sent++) expect((await fetch(upstream.url)).status).toBe(200)
  })

  test('throttles by key, and by the origin if the key throws', async () => {
    const key = (_url: unknown, init?: RequestInit): string => {
      const customer = new Headers(init?.headers).get('x-customer')
      if (customer === null) throw new Error('no customer')
      return customer
    }
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, key, retries: 0 })
    headers = { 'retry-after': '5' }
    failing(429, 1)
    await fetch(upstream.url, { headers: { 'x-customer': 'ann' } })
    await expect(fetch(other.url, { headers: { 'x-customer': 'ann' } })).rejects.toThrow('SLUICE_THROTTLED')
    expect((await fetch(upstream.url, { headers: { 'x-customer': 'bob' } })).status).toBe(200)
    failing(429, 1)
    expect((await fetch(upstream.url)).status).toBe(429)
    await expect(fetch(upstream.url)).rejects.toThrow('SLUICE_THROTTLED')
    expect((await fetch(other.url)).status).toBe(200)
  })

  test('remembers maxUpstreams origins, those that were used last', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, maxUpstreams: 1, retries: 0 })
    headers = { 'retry-after': '5' }
    failing(429, 1)
    await fetch(upstream.url)
    await fetch(other.url)
    expect((await fetch(upstream.url)).status).toBe(200)
  })

  test('invalid URLs are refused by fetch itself', async () => {
    await expect(adaptiveThrottle(globalThis.fetch, { clock, retries: 0 })('/path')).rejects.toThrow(/URL/)
  })
})

describe('retries of adaptiveThrottle', () => {
  test.each([
    ['GET', undefined],
    ['QUERY', 'select'],
    ['PUT', 'text'],
    ['put', new URLSearchParams('a=b')],
    ['DELETE', new TextEncoder().encode('bytes')],
  ])('repeat %s with the same body', async (method, body) => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock })
    failing(503, 2)
    const response = await played(fetch(upstream.url, body === undefined ? { method } : { method, body }))
    expect([response.status, seen.length]).toEqual([200, 3])
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1)
  })

  test.each([
    ['in an object', { headers: { 'Idempotency-Key': '"8e03978e"' } }],
    ['in a list', { headers: [['idempotency-key', 'a']] as [string, string][] }],
    ['in Headers', { headers: new Headers({ 'idempotency-key': 'a' }) }],
  ])('repeat POST with an Idempotency-Key %s', async (_where, init) => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock })
    failing(503, 1)
    expect((await played(fetch(upstream.url, { method: 'POST', body: 'a', ...init }))).status).toBe(200)
    failing(503, 1)
    expect((await played(fetch(new Request(upstream.url, { method: 'POST', ...init })))).status).toBe(200)
    failing(503, 1)
    expect(
      (
        await fetch(upstream.url, {
          method: 'POST',
          body: new Blob(['a']).stream(),
          duplex: 'half',
          ...init,
        } as RequestInit)
      ).status,
    ).toBe(503)
    // the headers of the second argument replace those of the request
    failing(503, 1)
    expect((await fetch(new Request(upstream.url, { method: 'POST', ...init }), { headers: {} })).status).toBe(503)
  })

  test('leave invalid headers to fetch', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock })
    await expect(played(fetch(upstream.url, { method: 'POST', headers: { 'a b': 'c' } }))).rejects.toThrow(/a b/)
  })

  test('do not repeat POST, streams and requests with a body', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock })
    failing(503, 10)
    const stream = new Blob(['a']).stream()
    const init = { method: 'PUT', body: stream, duplex: 'half' } as RequestInit
    expect((await fetch(upstream.url, { method: 'POST', body: 'a' })).status).toBe(503)
    expect((await fetch(upstream.url, init)).status).toBe(503)
    expect((await fetch(new Request(upstream.url, { method: 'PUT', body: 'a' }))).status).toBe(503)
    expect((await fetch(new Request(upstream.url, { method: 'POST' }))).status).toBe(503)
    expect(seen).toHaveLength(4)
  })

  test('wait for Retry-After and up to a tenth longer', async () => {
    for (const random of [0, 0.999]) {
      const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => random })
      headers = { 'retry-after': '5' }
      failing(429, 1)
      const before = clock.now()
      expect((await played(fetch(upstream.url))).status).toBe(200)
      const waitedMs = clock.now() - before
      expect(waitedMs).toBe(random === 0 ? 5_000 : 5_500)
    }
  })

  test('do not happen if the upstream asks to wait longer than maxRetryDelayMs', async () => {
    for (const random of [0, 0.5]) {
      for (const field of ['11', '9'.repeat(400)]) {
        const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => random })
        headers = { 'retry-after': field }
        failing(429, 1)
        const response = await fetch(upstream.url)
        expect([response.status, await response.text()]).toEqual([429, 'body'])
      }
    }
    expect(clock.pending).toBe(0)
  })

  test('end when the request is aborted, and leave no timer', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock })
    headers = { 'retry-after': '5' }
    failing(429, 1)
    const controller = new AbortController()
    const answer = fetch(upstream.url, { signal: controller.signal })
    await until(() => clock.pending === 1, { what: 'the retry to wait' })
    controller.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    expect([clock.pending, seen.length]).toEqual([0, 1])
  })

  test('return the last response if another response asked for more time', async () => {
    const waits: Record<string, string> = { GET: '5', POST: '9' }
    const busy = async (_url: string, { method }: { method: string }): Promise<Response> =>
      new Response(method, { status: 429, headers: { 'retry-after': waits[method] } })
    const fetch = adaptiveThrottle(busy, { clock, random: () => 0 })
    const first = fetch(upstream.url, { method: 'GET' })
    const second = fetch(upstream.url, { method: 'POST' })
    expect(await (await second).text()).toBe('POST')
    const before = clock.now()
    expect(await (await played(first)).text()).toBe('GET')
    expect(clock.now() - before).toBe(5_000)
  })

  test('are at most a tenth of the requests, after 10 that are saved up', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => 0.999, minRequests: 1e6 })
    failing(503, 1e4)
    for (let sent = 0; sent < 300; sent++) await played(fetch(upstream.url))
    const retries = seen.length - 300
    process.stdout.write(`${retries} retries of 300 requests\n`)
    expect(retries).toBeGreaterThanOrEqual(38)
    expect(retries).toBeLessThanOrEqual(40)
  })

  test('do not happen with a retryBudget of 0', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, retryBudget: 0 })
    failing(503, 1)
    expect((await fetch(upstream.url)).status).toBe(503)
  })
})

describe('stats', () => {
  test('counts what was sent, sent again and not sent, by upstream', async () => {
    const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: () => 0, maxUpstreams: 2 })
    expect(fetch.stats()).toEqual(new Map())
    failing(503, 1)
    await played(fetch(upstream.url))
    headers = { 'retry-after': '60' }
    failing(429, 1)
    await fetch(upstream.url)
    await expect(fetch(upstream.url)).rejects.toThrow('SLUICE_THROTTLED')
    await fetch(other.url)
    expect(fetch.stats()).toEqual(
      new Map([
        [new URL(upstream.url).origin, { sent: 3, retried: 1, throttled: 1 }],
        [new URL(other.url).origin, { sent: 1, retried: 0, throttled: 0 }],
      ]),
    )
    await fetch('data:,a')
    expect([...fetch.stats().keys()]).toEqual([new URL(other.url).origin, 'null'])
  })

  test('is a copy, and belongs to throttled functions, too', async () => {
    const query = throttled(async () => 'rows', { clock })
    await query()
    const before = query.stats()
    await query()
    expect([before.get('')?.sent, query.stats().get('')?.sent]).toEqual([1, 2])
  })
})

describe('throttled', () => {
  const busy = { kind: 'busy', waitMs: 3_000 }

  test('throttles by isOverload, retryAfterMs and key', async () => {
    const query = throttled(async (_shard: string, result: unknown) => result, {
      clock,
      key: (shard) => shard,
      isOverload: (_error, result) => result === busy,
      retryAfterMs: (_error, result) => (result === busy ? busy.waitMs : undefined),
    })
    expect(await query('a', busy)).toBe(busy)
    await expect(query('a', 'rows')).rejects.toMatchObject({ code: 'SLUICE_THROTTLED', retryAfterMs: 3_000 })
    expect(await query('b', 'rows')).toBe('rows')
  })

  test('repeats a call only if retries is set', async () => {
    let calls = 0
    const fail = async (): Promise<never> => Promise.reject(new Error(`call ${++calls}`))
    await expect(throttled(fail, { clock })()).rejects.toThrow('call 1')
    await expect(played(throttled(fail, { clock, retries: 2 })())).rejects.toThrow('call 4')
  })

  test('survives hooks that throw or return nonsense', async () => {
    const throwing = (): never => {
      throw new Error('hook')
    }
    const query = throttled(async () => 'rows', { clock, key: throwing, isOverload: throwing, retryAfterMs: throwing })
    expect(await query()).toBe('rows')
    for (const wait of [Number.NaN, -1, 'soon', undefined]) {
      const other = throttled(async () => 'rows', { clock, retryAfterMs: () => wait as never })
      expect([await other(), await other()]).toEqual(['rows', 'rows'])
    }
  })
})

describe.each([
  ['adaptiveThrottle', adaptiveThrottle as (call: unknown, options?: unknown) => unknown],
  ['throttled', throttled as (call: unknown, options?: unknown) => unknown],
])('options of %s', (name, create) => {
  test.each([
    [{ k: 0.5 }, /k: expected a number from 1 to 1000, received 0.5/],
    [{ k: '2' }, /k: expected/],
    [{ minRequests: -1 }, /minRequests: expected/],
    [{ retryBudget: 10 }, /retryBudget: expected a number from 0 to 1, received 10/],
    [{ retries: 11 }, /retries: expected an integer from 0 to 10, received 11/],
    [{ maxRetryDelayMs: -1 }, /maxRetryDelayMs: expected/],
    [{ maxRetryAfterMs: Number.NaN }, /maxRetryAfterMs: expected/],
    [{ maxUpstreams: 0 }, /maxUpstreams: expected/],
    [{ clock: {} }, /clock: expected/],
    [{ random: 0.5 }, /random: expected a function/],
    [{ key: 'host' }, /key: expected a function/],
    [{ budget: 1 }, /unknown option/],
  ])('%p is rejected', (options, message) => {
    expect(() => create(async () => {}, options)).toThrow(message)
    expect(() => create(async () => {}, options)).toThrow(name === '' ? '' : /^SLUICE_BAD_/)
  })

  test('something else than a function is rejected', () => {
    expect(() => create({})).toThrow(`SLUICE_BAD_OPTION: ${name}: expected`)
  })
})
