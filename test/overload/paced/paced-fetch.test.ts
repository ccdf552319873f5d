import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { type PacedFetchOptions, pacedFetch } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

const URL = 'https://api.example/'

let clock: FakeClock
/** Requests that the upstream has received and not answered. */
let open: { readonly init: RequestInit | undefined; answer(response: Response | Error): void }[]
/** How the upstream answers at once; requests stay open if there is no answer. */
let answers: (Response | Error)[]
let seen: string[]

const upstream = (input: string, init?: RequestInit): Promise<Response> => {
  seen.push(String(new Headers(init?.headers).get('x-name') ?? input))
  return new Promise((resolve, reject) => {
    const answer = (response: Response | Error): void => {
      if (response instanceof Error) reject(response)
      else resolve(response)
    }
    const next = answers.shift()
    if (next) answer(next)
    else open.push({ init, answer })
  })
}

const paced = (options: PacedFetchOptions<typeof upstream> = {}) =>
  pacedFetch(upstream, { clock, random: () => 0, ...options })

const named = (name: string): RequestInit => ({ headers: { 'x-name': name } })
const announced = (left: number, seconds: number): Response =>
  new Response(null, { headers: { ratelimit: `"a";r=${left};t=${seconds}` } })
const refused = (fields: Record<string, string> = { 'retry-after': '5' }, status = 429): Response =>
  new Response('busy', { status, headers: fields })

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function advance(ms: number): Promise<void> {
  clock.advance(ms)
  await settle()
}

beforeEach(() => {
  clock = new FakeClock()
  open = []
  answers = []
  seen = []
})

afterEach(() => {
  expect(clock.pending).toBe(0)
})

describe('calls that wait', () => {
  test('are sent in the order of their priority, then of their arrival', async () => {
    const fetch = paced({ priority: (_url, init) => new Headers(init?.headers).get('x-name')?.slice(1) as 'high' })
    answers = [announced(3, 30), ...Array.from({ length: 4 }, () => new Response())]
    await fetch(URL)
    // the first of them goes at once, the others are 10 seconds apart
    const calls = ['1normal', '2low', '3normal', '4critical'].map((name) => fetch(URL, named(name)))
    await settle()
    for (let round = 0; round < 3; round++) await advance(15_000)
    await Promise.all(calls)
    expect(seen.slice(1)).toEqual(['1normal', '4critical', '3normal', '2low'])
  })

  test('reject with a code after maxWaitMs, and at once if their turn is later', async () => {
    const fetch = paced({ maxWaitMs: '10s', retries: 0 })
    answers = [refused({ 'retry-after': '30' })]
    expect((await fetch(URL)).status).toBe(429)
    await expect(fetch(URL)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED', retryAfterMs: 30_000 })
    await advance(25_000)
    const waiting = fetch(URL)
    await settle()
    answers = [new Response()]
    await advance(5_000)
    expect((await waiting).status).toBe(200)
    answers = [announced(1, 15), new Response()]
    await fetch(URL)
    // the first of them goes at once, and nothing is left for the other one
    const [next, late] = [fetch(URL), fetch(URL)]
    const failed = expect(late).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
    expect((await next).status).toBe(200)
    await advance(10_000)
    await failed
  })

  test('are rejected together if the upstream asks to wait for longer than all of them can', async () => {
    const fetch = paced({ maxWaitMs: '10s', retries: 0 })
    const calls = Array.from({ length: 6 }, () => fetch(URL).catch((error: { code: string }) => error.code))
    await settle()
    expect(open).toHaveLength(3)
    for (const { answer } of open) answer(refused({ 'retry-after': '3600' }))
    const results = await Promise.all(calls)
    expect(results.slice(3)).toEqual(Array(3).fill('SLUICE_THROTTLED'))
  })

  test('leave when they are aborted, with the reason of the signal', async () => {
    const fetch = paced()
    const controller = new AbortController()
    const first = Array.from({ length: 3 }, () => fetch(URL))
    const waiting = fetch(URL, { signal: controller.signal })
    await settle()
    expect(fetch.stats().get('https://api.example')).toMatchObject({ waiting: 1, inFlight: 3 })
    controller.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    await expect(fetch(URL, { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone')
    for (const { answer } of open) answer(new Response())
    await Promise.all(first)
    expect(seen).toHaveLength(3)
    expect(fetch.stats().get('https://api.example')).toMatchObject({ sent: 3, waiting: 0, inFlight: 0 })
  })

  test('are at most maxWaiting', async () => {
    const fetch = paced({ maxWaiting: 1 })
    const calls = Array.from({ length: 4 }, () => fetch(URL))
    await expect(fetch(URL)).rejects.toThrow('too many calls are waiting')
    for (let at = 0; at < 4; at++) {
      open[at].answer(new Response())
      await settle()
    }
    await Promise.all(calls)
  })

  test('are rejected by close, and no timer remains', async () => {
    const fetch = paced()
    answers = [announced(0, 30)]
    await fetch(URL)
    const waiting = expect(fetch(URL)).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
    await settle()
    await fetch.close()
    await waiting
  })
})

describe('origins and partitions', () => {
  test('have budgets of their own', async () => {
    const fetch = paced({ partition: (_url, init) => new Headers(init?.headers).get('x-name') ?? '', maxWaitMs: 1_000 })
    answers = [announced(0, 30), new Response(), new Response()]
    await fetch(URL, named('ann'))
    await expect(fetch(URL, named('ann'))).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
    await fetch(URL, named('bob'))
    await fetch('https://other.example/', named('ann'))
    expect([...fetch.stats().keys()]).toEqual([
      'https://api.example ann',
      'https://api.example bob',
      'https://other.example ann',
    ])
  })
})

describe('a refused request', () => {
  const repeatable: readonly [string, RequestInit][] = [
    ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY'].map((method): [string, RequestInit] => [
      method,
      { method },
    ]),
    ['POST with Idempotency-Key', { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } }],
  ]

  test.each(repeatable)('is sent again: %s', async (_name, init) => {
    const fetch = paced()
    answers = [refused(), new Response()]
    const call = fetch(URL, init)
    await settle()
    expect(seen).toHaveLength(1)
    await advance(5_000)
    expect((await call).status).toBe(200)
  })

  test.each<[string, RequestInit]>([
    ['POST', { method: 'POST', body: 'x' }],
    ['PATCH', { method: 'PATCH', body: 'x' }],
    ['PUT with a stream', { method: 'PUT', body: new ReadableStream(), duplex: 'half' } as RequestInit],
    [
      'POST with a stream and Idempotency-Key',
      { method: 'POST', body: new ReadableStream(), headers: { 'idempotency-key': 'k' } },
    ],
  ])('is not sent again: %s', async (_name, init) => {
    answers = [refused()]
    expect((await paced()(URL, init)).status).toBe(429)
  })

  test('is not sent again if the server says so, the budget is used up, or the wait is too long', async () => {
    answers = [refused({ 'retry-after': '5', 'x-should-retry': 'false' })]
    expect((await paced()(URL)).status).toBe(429)
    answers = [refused({ 'stripe-should-retry': 'false' })]
    expect((await paced()(URL)).status).toBe(429)
    answers = [refused()]
    expect((await paced({ retryBudget: 0 })(URL)).status).toBe(429)
    answers = [refused({ 'retry-after': '61' })]
    expect((await paced({ maxWaitMs: '1m' })(URL)).status).toBe(429)
  })

  test('is sent at most retries + 1 times', async () => {
    answers = [refused(), refused(), new Response()]
    const call = paced({ retries: 1 })(URL)
    await settle()
    await advance(5_000)
    expect((await call).status).toBe(429)
    expect(seen).toHaveLength(2)
  })
})

test('single network errors change nothing, and three in a row stop all calls for a second', async () => {
  const fetch = paced({ retries: 0 })
  answers = [
    new TypeError('fetch failed'),
    new Response(),
    ...Array.from({ length: 3 }, () => new TypeError('fetch failed')),
  ]
  for (let call = 0; call < 5; call++) await fetch(URL).catch(() => {})
  expect(fetch.stats().get('https://api.example')).toMatchObject({ sent: 5, waitMs: 1_000 })
})

test('a single try that hangs does not stop other calls for longer than ten seconds', async () => {
  const fetch = paced({ retries: 0 })
  answers = [refused({ 'retry-after': '1' })]
  await fetch(URL)
  const [hung, next] = [fetch(URL), fetch(URL)]
  await advance(1_000)
  expect(open).toHaveLength(1)
  answers = [new Response()]
  for (let waited = 0; waited < 10_250; waited += 250) await advance(250)
  expect((await next).status).toBe(200)
  open[0].answer(new Response())
  await hung
})

test('a server that refuses although it announces units is learned from its refusals', async () => {
  const fetch = paced({ retries: 0, maxWaitMs: '1s' })
  answers = [refused({ ratelimit: '"a";r=99;t=1' })]
  await fetch(URL)
  expect(fetch.stats().get('https://api.example')?.waitMs).toBe(1_000)
})

test('a backend in memory is shared by two functions', async () => {
  const backend = memoryBackend({ clock })
  const fetches = [paced({ backend, maxWaitMs: '2s' }), paced({ backend, maxWaitMs: '2s' })]
  answers = [refused({ 'retry-after': '1' }), new Response()]
  expect((await fetches[0](URL, { method: 'POST' })).status).toBe(429)
  const other = fetches[1](URL)
  await settle()
  expect(seen).toHaveLength(1)
  await advance(1_000)
  expect((await other).status).toBe(200)
  await Promise.all(fetches.map((fetch) => fetch.close()))
  await backend.close?.()
})

test.each<[string, unknown]>([
  ['maxWaitMs', 0],
  ['maxWaitMs', '60'],
  ['maxWaiting', 0],
  ['retries', 11],
  ['retryBudget', 2],
  ['partition', 'name'],
  ['priority', 'high'],
  ['backend', 'redis'],
  ['concurrency', 1],
])('the option %s cannot be %p', (name, value) => {
  expect(() => paced({ [name]: value })).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^SLUICE_BAD/) }),
  )
  expect(() => pacedFetch(undefined as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})
