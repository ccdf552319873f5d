import { describe, expect, test } from '@jest/globals'
import { type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { type PacedFetchOptions, pacedFetch } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

const URL = 'https://api.example/'
const ends = [({ status }: Response) => String(status), ({ code }: { code?: string }) => String(code)] as const

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A server that accepts the first calls, and then refuses all for half a minute. */
function open(options: Partial<PacedFetchOptions> = {}, accepts = 0) {
  const clock = new FakeClock()
  let seen = 0
  const upstream = async (_url: string, _init?: RequestInit): Promise<Response> =>
    ++seen <= accepts ? new Response() : new Response(null, { status: 429, headers: { 'retry-after': '30' } })
  return { clock, fetch: pacedFetch(upstream, { clock, retries: 0, ...options }), seen: () => seen }
}

describe.each([false, true])('after close (with a backend: %s)', (isShared) => {
  const backendOf = (clock: FakeClock): Partial<PacedFetchOptions> =>
    isShared ? { backend: memoryBackend({ clock }) } : {}

  test('a call that would have to wait is rejected at once, and other calls are sent', async () => {
    const { clock, fetch } = open(backendOf(new FakeClock()))
    await fetch(URL)
    await fetch.close()
    await expect(fetch(URL)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
    expect((await fetch('https://other.example/')).status).toBe(429)
    expect(clock.pending).toBe(0)
  })
})

test('close ends the wait of a call that would be sent again, which returns its response', async () => {
  const { clock, fetch, seen } = open({ retries: 2, retryBudget: 1 })
  const call = fetch(URL)
  await settle()
  expect(clock.pending).toBe(1)
  await fetch.close()
  expect((await call).status).toBe(429)
  expect([seen(), clock.pending]).toEqual([1, 0])
})

test('close rejects calls that wait for an upstream that is no longer remembered', async () => {
  const { clock, fetch } = open({ maxUpstreams: 1 })
  await fetch(URL)
  const waiting = fetch(URL).then(...ends)
  await settle()
  await fetch('https://other.example/')
  await fetch.close()
  expect(await waiting).toBe('SLUICE_THROTTLED')
  expect(clock.pending).toBe(0)
})

test('a call that is aborted while the backend decides is not counted as sent', async () => {
  const clock = new FakeClock()
  const memory = memoryBackend({ clock })
  const backend = new Proxy<Backend>(memory, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return name === 'takeAll' ? async (...args: unknown[]) => value.apply(target, args) : value.bind(target)
    },
  })
  const { fetch } = open({ backend }, 10)
  for (let call = 0; call < 5; call++) {
    const leaving = new AbortController()
    const left = fetch(URL, { signal: leaving.signal }).then(...ends)
    leaving.abort(Object.assign(new Error('left'), { code: 'left' }))
    expect(await left).toBe('left')
    await settle()
    clock.advance(100)
  }
  const counts = createLimiter({
    backend: memory,
    clock,
    scope: 'paced-fetch',
    shared: true,
    policies: [{ name: 'sent', limit: 1e12, window: '30d', algorithm: 'fixed-window' }],
  })
  expect(counts.peek('https://api.example', 0)).toMatchObject({ binding: { remaining: 1e12 } })
})
