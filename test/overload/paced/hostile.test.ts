import { expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { type PacedFetchOptions, pacedFetch } from '@sluice/overload'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { EventClock } from './virtual-upstream.ts'

const MAX_WAIT_MS = 20_000
const CALLS_MS = 120_000
const SLOWEST_MS = 3_000

const STATUSES = [200, 200, 200, 204, 403, 404, 429, 429, 500, 503]
const NAMES = [
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  'x-shopify-shop-api-call-limit',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'date',
  'age',
]
const VALUES = [
  '0',
  '1',
  '7',
  '-1',
  'NaN',
  'Infinity',
  '999999999999999',
  '1e309',
  '0/0',
  '40/40',
  '41/40',
  '0.0000001',
  '1m2.5s',
  '999999999d',
  '9999-12-31T23:59:59Z',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  '"a";r=0;t=999999999999999',
  '"a";r=999999999999999;t=0',
  '"a";r=3;t=1, "b";r=0;t=2',
  '"a";q=1;w=999999999999999',
  '"a";q=0;w=1',
  'limit=0, remaining=0, reset=0',
  'false',
  `${'"a";r=0;t=1,'.repeat(600)}"a"`,
  '"'.repeat(9_000),
]

function pick<T>(random: SeededRandom, from: readonly T[]): T {
  return from[random.whole(from.length)] as T
}

function response(random: SeededRandom): Response {
  const headers = Array.from({ length: random.whole(6) }, (): [string, string] => [
    pick(random, NAMES),
    pick(random, VALUES),
  ])
  return new Response(null, { status: pick(random, STATUSES), headers: Object.fromEntries(headers) })
}

/** Calls a hostile server at random times. Returns how the calls ended. */
async function play(random: SeededRandom, withBackend: boolean): Promise<Map<string, number>> {
  const clock = new EventClock()
  const later = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  const upstream = async (_url: string, init?: RequestInit): Promise<Response> => {
    await later(random.next() * SLOWEST_MS)
    init?.signal?.throwIfAborted()
    if (random.next() < 0.1) throw new TypeError('fetch failed')
    return response(random)
  }
  const backend = withBackend ? memoryBackend({ clock }) : undefined
  const options: PacedFetchOptions<typeof upstream> = {
    clock,
    backend,
    random: random.next,
    maxWaitMs: MAX_WAIT_MS,
    maxWaiting: 20,
    partition: () => pick(random, ['', 'a', '__proto__']),
    priority: () => pick(random, ['high', 'low', 'none' as 'low']),
  }
  const fetch = pacedFetch(upstream, options)
  const ends = new Map<string, number>()
  const call = async (): Promise<void> => {
    await later(random.next() * CALLS_MS)
    const since = clock.now()
    const controller = new AbortController()
    const aborted = random.next() < 0.3
    if (aborted) clock.after(random.next() * MAX_WAIT_MS, () => controller.abort(new Error('left')))
    const end = await fetch('https://api.example/', {
      method: pick(random, ['GET', 'POST']),
      signal: controller.signal,
    }).then(
      ({ status }) => String(status),
      (error: { code?: string; message: string }) => error.code ?? error.message,
    )
    ends.set(end, (ends.get(end) ?? 0) + 1)
    // a call is sent for the last time within maxWaitMs
    expect(clock.now() - since).toBeLessThanOrEqual(SLOWEST_MS + MAX_WAIT_MS)
  }
  let left = 400
  const calls = Array.from({ length: left }, () => call().finally(() => left--))
  while (left > 0) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advanceToNext(clock.now() + 1_000)
  }
  await Promise.all(calls)
  for (const { waiting, inFlight, gapMs, waitMs } of fetch.stats().values()) {
    expect({ waiting, inFlight, isFinite: Number.isFinite(gapMs + waitMs) }).toEqual({
      waiting: 0,
      inFlight: 0,
      isFinite: true,
    })
  }
  await fetch.close()
  await backend?.close?.()
  return ends
}

test.each([false, true])('every call of a hostile server ends in time (backend: %s)', async (withBackend) => {
  await eachSeed(4, async (random) => {
    const ends = await play(random, withBackend)
    const known = [...ends.keys()].filter((end) => /^\d{3}$|^SLUICE_THROTTLED$|^left$|^fetch failed$/.test(end))
    expect([...ends.keys()]).toEqual(known)
  })
})
