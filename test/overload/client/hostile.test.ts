import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { adaptiveThrottle, throttled } from '@sluice/overload'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const FIELDS = ['retry-after', 'ratelimit', 'ratelimit-remaining', 'ratelimit-reset']
const NAMES = [...FIELDS, 'x-ratelimit-remaining', 'x-ratelimit-reset']
const VALUES = [
  ...['0', '1', '-1', '1e9', 'NaN', 'Infinity', '9'.repeat(300), '1767225600', '1767225600000', '0.5', '00', ''],
  ...['"a";r=0;t=5', '"a";r=0;t=99999999999999999999', 'limit=1, remaining=0, reset=9', '__proto__', 'soon', '5, 5'],
  ...['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'Mon, 00 Abc 0000 99:99:99 GMT'],
]

let server: Server
let url: string
let random: SeededRandom

beforeAll(async () => {
  server = createServer((req, res) => {
    const choice = random.whole(10)
    for (const name of NAMES) if (random.whole(3) === 0) res.setHeader(name, random.pick(VALUES))
    res.statusCode = random.pick([200, 200, 204, 404, 429, 500, 503])
    if (choice === 0) req.socket.destroy()
    else if (choice === 1) res.write('a part', () => req.socket.destroy())
    else if (choice === 2) res.writeHead(200, { 'content-length': '100' }).end('short')
    else if (choice > 3) res.end('body')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** Runs `body` and returns the number of unhandled rejections. */
async function unhandled(body: () => Promise<void>): Promise<number> {
  let count = 0
  const rejected = (): void => void count++
  process.on('unhandledRejection', rejected)
  try {
    await body()
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', rejected)
  }
  return count
}

test('an upstream that answers anything, or leaves, causes no unhandled rejection and leaves no timer', async () => {
  const outcomes: Record<string, number> = {}
  const rejections = await unhandled(() =>
    eachSeed(4, async (seeded) => {
      random = seeded
      const clock = new FakeClock()
      const fetch = adaptiveThrottle(globalThis.fetch, { clock, random: seeded.next, maxRetryAfterMs: 5_000 })
      const ask = async (): Promise<void> => {
        const left = new AbortController()
        const moment = seeded.whole(6)
        if (moment === 0) left.abort()
        const sent = fetch(url, { signal: left.signal })
        if (moment === 1) left.abort(new Error('left'))
        if (moment === 2) setImmediate(() => left.abort())
        const response = await sent
        if (moment === 3) left.abort()
        await response.text()
      }
      const name = (error: unknown): string => (error as { code?: string }).code ?? (error as Error).name
      for (let round = 0; round < 30; round++) {
        let pending = 8
        const asks = Array.from({ length: pending }, () =>
          ask()
            .then(
              () => 'answered',
              (error) => name(error),
            )
            .then((outcome) => {
              outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
              pending--
            }),
        )
        for (let turn = 1; pending > 0; turn++) {
          clock.advance(100)
          await new Promise((resolve) => setImmediate(resolve))
          // some requests are never answered
          if (turn % 100 === 0) server.closeAllConnections()
        }
        await Promise.all(asks)
      }
      expect(clock.pending).toBe(0)
      const [stats] = [...fetch.stats().values()]
      expect(stats.sent).toBeGreaterThan(0)
      expect(stats.retried).toBeLessThanOrEqual(stats.sent)
    }),
  )
  process.stdout.write(`${JSON.stringify(outcomes)}\n`)
  expect(rejections).toBe(0)
  expect(outcomes.answered).toBeGreaterThan(0)
})

describe('an invalid request', () => {
  test.each([[Symbol('url')], [Object.create(null)], [undefined], [{ url: 3 }], [null]])(
    'rejects and does not throw: %p',
    async (input) => {
      const fetch = adaptiveThrottle(globalThis.fetch, { clock: new FakeClock(), retries: 0 })
      const sent = fetch(input as never)
      await expect(sent).rejects.toThrow()
    },
  )
})

describe('a function in place of fetch', () => {
  test('may have bodies that cannot be cancelled', async () => {
    const clock = new FakeClock()
    for (const cancel of [undefined, () => undefined, () => Promise.reject(new Error('locked')), fail]) {
      const busy = async () => ({ status: 503, headers: new Headers(), body: { cancel } })
      const fetch = adaptiveThrottle(busy as never as typeof globalThis.fetch, { clock, random: () => 0, retries: 1 })
      const rejections = await unhandled(async () => {
        const sent = fetch('https://api.example/')
        while (clock.pending === 0) await undefined
        clock.advance(1_000)
        expect((await sent).status).toBe(503)
      })
      expect([rejections, clock.pending]).toEqual([0, 0])
    }
  })

  // regression: its connection stayed in use until garbage collection
  test('has the body of a response cancelled whose caller leaves before the retry', async () => {
    const clock = new FakeClock()
    let cancelled = 0
    const busy = async () => ({ status: 503, headers: new Headers(), body: { cancel: async () => void cancelled++ } })
    const fetch = adaptiveThrottle(busy as never as typeof globalThis.fetch, { clock })
    const left = new AbortController()
    const sent = fetch('https://api.example/', { signal: left.signal })
    while (clock.pending === 0) await undefined
    left.abort(new Error('left'))
    await expect(sent).rejects.toThrow('left')
    expect([cancelled, clock.pending]).toEqual([1, 0])
  })
})

// regression: the conversion of the result to a number was not guarded
test('a retryAfterMs that is not a number does not replace the result of a call', async () => {
  for (const odd of [Symbol('odd'), 1n, Object.create(null), { valueOf: fail }]) {
    const query = throttled(async () => 'rows', { clock: new FakeClock(), retryAfterMs: () => odd as never })
    expect(await query()).toBe('rows')
  }
})

function fail(): never {
  throw new Error('a fault')
}
