import { describe, expect, test } from '@jest/globals'
import { adaptiveThrottle } from '@sluice/overload'
import { baseSeed, FakeClock, numberOfRuns } from '@sluice/testkit'
import { type Played, play, type Scene, type Shape, total } from './upstream-model.ts'

const seed = baseSeed()
const every = { seed, latencyMs: 20, arrivals: 'poisson' } as const
const STRICT: Shape = { kind: 'bucket', perSecond: 10 }
const SHAPES = [
  ['without bursts', STRICT],
  ['with bursts of 20', { kind: 'bucket', perSecond: 10, burst: 20 }],
  ['in fixed windows', { kind: 'fixed', perSecond: 10 }],
  ['in sliding windows', { kind: 'sliding', perSecond: 10 }],
] as const satisfies readonly (readonly [string, Shape])[]

/**
 * Arrivals, whether the upstream sends `Retry-After`, and the part that must be accepted. Few Poisson arrivals coincide with
 * the moment in which an upstream without bursts accepts one.
 */
const ARRIVALS = [
  ['steady', false, 0.9],
  ['poisson', false, 0.84],
  ['steady', true, 0.9],
  ['poisson', true, 0.8],
] as const

/** Parts of what the upstream would admit that were accepted and sent after the first 10 s. */
function shares({ admitted, accepted, sent }: Played): { accepted: number; sent: number } {
  const most = total(admitted, 10)
  return { accepted: total(accepted, 10) / most, sent: total(sent, 10) / most }
}

function report(name: string, numbers: Record<string, number>): void {
  const texts = Object.entries(numbers).map(([key, number]) => `${key} ${Number(number.toFixed(2))}`)
  process.stdout.write(`${name}: ${texts.join(', ')}\n`)
}

describe(`100 calls per second of an upstream that admits 10 (seed ${seed})`, () => {
  describe.each(SHAPES)('%s', (name, shape) => {
    const ofShape = SHAPES.findIndex(([other]) => other === name)
    const inTurns = ARRIVALS.filter((_, index) => (ofShape + index) % ARRIVALS.length < numberOfRuns(ARRIVALS.length))
    test.each(inTurns)('%s, Retry-After %s: at least %d is accepted', async (arrivals, retryAfter, least) => {
      const played = await play({ ...every, seconds: 100, calls: 100, arrivals, shape, retryAfter, refusal: 429 })
      const { accepted, sent } = shares(played)
      report(`${name}, ${arrivals}, Retry-After ${retryAfter}`, { accepted, sent })
      expect(accepted).toBeGreaterThanOrEqual(least)
      expect(sent).toBeLessThanOrEqual(1.25)
      expect(played.early).toBe(0)
    })
  })

  test.each([
    ['4 clients', { clients: 4, shape: SHAPES[2][1] }],
    ['replies after a second', { latencyMs: 1_000, shape: SHAPES[2][1] }],
    ['network errors', { refusal: 'network', shape: SHAPES[2][1] }],
    ['500 calls per second and 150 admitted', { calls: 500, shape: { kind: 'fixed', perSecond: 150 } }],
    ['12 calls per second', { calls: 12, shape: SHAPES[2][1] }],
    ['bursts of 50', { arrivals: 'bursts', shape: SHAPES[1][1] }],
  ] as const satisfies readonly (readonly [string, Partial<Scene>])[])('%s: at least 0.9', async (name, scene) => {
    const { accepted, sent } = shares(await play({ ...every, seconds: 70, calls: 100, ...scene }))
    report(name, { accepted, sent })
    expect(accepted).toBeGreaterThanOrEqual(0.9)
    expect(sent).toBeLessThanOrEqual(1.5)
  })
})

const KINDS = [
  ['refuses', {}],
  ['asks to wait', { retryAfter: true }],
  ['hangs until the timeout', { timeoutMs: 10_000 }],
] as const satisfies readonly (readonly [string, Partial<Scene>])[]

describe.each(KINDS)(`an upstream that %s (seed ${seed})`, (name, kind) => {
  test.each([[5, 125, 30], [100, 40, 30], [500, 10, 30], ...(name === 'refuses' ? [[50, 40, 300]] : [])])(
    '%d calls per second, after %d healthy seconds, for %d s',
    async (calls, healthy, outage) => {
      const back = healthy + outage
      const outages = [[healthy, back]] as const
      const { sent, throttled, ...played } = await play({ ...every, seconds: back + 15, calls, outages, ...kind })
      expect(total(throttled, 0, healthy)).toBe(0)
      // two seconds of evidence, and at most one request per second then
      expect(Math.max(...sent.slice(healthy + 3, back))).toBeLessThanOrEqual(2)
      const share = total(sent, back + 4, back + 6) / total(played.calls, back + 4, back + 6)
      report(`${name}, ${calls} per second, ${outage} s`, {
        'third second': sent[healthy + 2],
        'sent after 4 to 6 s': share,
      })
      expect(sent[healthy + 2]).toBeLessThanOrEqual(Math.max(2, calls * 0.1))
      expect(share).toBeGreaterThanOrEqual(0.9)
      expect(total(throttled, back + 10)).toBe(0)
    },
  )
})

describe(`a healthy upstream (seed ${seed})`, () => {
  test.each([
    [5, 0.05],
    [100, 0.05],
    [1_000, 0.05],
    [100, 0.08],
  ])('%d calls per second are all sent although %d of them fail', async (calls, failures) => {
    const scene = { ...every, seconds: 20_000 / calls, calls, failures, options: { retries: 0 } }
    const { sent, calls: called } = await play(scene)
    expect(total(sent)).toBe(total(called))
  })

  test.each([0.05, 0.5, 0.9])('refuses all requests for %d s, and all calls are sent', async (length) => {
    const { throttled } = await play({ ...every, seconds: 30, calls: 100, outages: [[15, 15 + length]] })
    expect(total(throttled)).toBe(0)
  })

  test('replies after 5 ms to 10 s', async () => {
    const { throttled } = await play({ ...every, seconds: 300, calls: 20, latencyMs: 2_000, jitter: true })
    expect(total(throttled)).toBe(0)
  })

  test('receives all calls again after it recovered while 5 % fail', async () => {
    const outages = [[30, 60]] as const
    const { throttled } = await play({ ...every, seconds: 90, calls: 100, failures: 0.05, outages })
    expect(total(throttled, 75)).toBe(0)
  })
})

test('all calls are sent with a large minRequests', async () => {
  const outages = [[0, 20]] as const
  const options = { minRequests: 1_000_000, retries: 0 }
  const { sent, calls } = await play({ ...every, seconds: 20, calls: 100, outages, options })
  expect(total(sent)).toBe(total(calls))
})

test('all calls are sent with a k that permits what the upstream refuses', async () => {
  const scene = { ...every, seconds: 60, calls: 20, shape: STRICT, options: { retries: 0 } }
  const { throttled } = await play(scene)
  expect(total(throttled)).toBeGreaterThan(100)
  const tolerant = await play({ ...scene, options: { retries: 0, k: 10 } })
  expect(total(tolerant.throttled)).toBe(0)
})

describe('ten requests without a reply', () => {
  /** Sends 30 requests, one every 100 ms, after one that was answered in 5 ms. Returns whether all were sent. */
  async function areAllSent(isAborted: boolean): Promise<boolean> {
    const clock = new FakeClock()
    const never = (signal: AbortSignal): Promise<Response> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const replies: ((response: Response) => void)[] = []
    const upstream = (_url: string, init?: { signal: AbortSignal }): Promise<Response> =>
      init ? never(init.signal) : new Promise((resolve) => replies.push(resolve))
    const fetch = adaptiveThrottle(upstream, { clock })
    const first = fetch('https://api.example/')
    clock.advance(5)
    replies[0](new Response())
    await first
    let throttled = 0
    for (let sent = 0; sent < 30; sent++) {
      const caller = new AbortController()
      const reply = fetch('https://api.example/', { signal: caller.signal })
      reply.catch((error: { code?: string }) => {
        if (error.code === 'SLUICE_THROTTLED') throttled++
      })
      clock.advance(100)
      if (isAborted) caller.abort()
      await new Promise(setImmediate)
    }
    return throttled === 0
  }

  test('mean that the upstream hangs', async () => {
    expect(await areAllSent(false)).toBe(false)
  })

  test('mean nothing if their callers have aborted them', async () => {
    expect(await areAllSent(true)).toBe(true)
  })
})
