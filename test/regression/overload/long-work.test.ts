import { describe, expect, test } from '@jest/globals'
import {
  type AcquireOptions,
  createInflightLimiter,
  type LocalInflightLimiter,
  type Permit,
} from '@sluice/limiter-core'
import { type AdaptiveOptions, adaptive, type LimitAlgorithmName } from '@sluice/overload'
import { FakeClock } from '@sluice/testkit'

const ALGORITHMS: readonly LimitAlgorithmName[] = ['throughput', 'gradient', 'vegas', 'aimd']
const WORKERS = 3
const WORK_MS = 20

/** Attempts of workers that do one piece of work after another. */
interface Attempts {
  admitted: number
  refused: number
  /** Time of the first admission. */
  firstMs: number | undefined
}

function capOf(clock: FakeClock, algorithm: LimitAlgorithmName, options: AdaptiveOptions = {}): LocalInflightLimiter {
  const timeout = algorithm === 'aimd' ? '1s' : undefined
  return createInflightLimiter({ clock, limit: adaptive({ algorithm, timeout, ...options }) } as never)
}

/** Lets workers work beside what holds places. Refused work is tried again after the duration of work. */
function work(cap: LocalInflightLimiter, clock: FakeClock, forMs: number): Attempts {
  const attempts: Attempts = { admitted: 0, refused: 0, firstMs: undefined }
  for (let ms = 0; ms < forMs; ms += WORK_MS) {
    const permits = Array.from({ length: WORKERS }, () => cap.acquire())
    const admitted = permits.filter(Boolean).length
    attempts.admitted += admitted
    attempts.refused += WORKERS - admitted
    if (admitted > 0) attempts.firstMs ??= ms
    clock.advance(WORK_MS)
    for (const permit of permits) permit?.release()
  }
  return attempts
}

describe.each(ALGORITHMS)('a cap with the algorithm %s', (algorithm) => {
  test('admits short work beside event streams that do not fill it', () => {
    const clock = new FakeClock()
    const cap = capOf(clock, algorithm)
    for (let stream = 0; stream < 15; stream++) expect(cap.acquire()).toBeDefined()
    expect(work(cap, clock, 60_000).refused).toBe(0)
  })

  test('admits short work beside event streams that fill it, from the time when they are known as such', () => {
    const clock = new FakeClock()
    const cap = capOf(clock, algorithm)
    const streams = Array.from({ length: 25 }, () => cap.acquire())
    const { firstMs } = work(cap, clock, 2_000)
    expect(firstMs).toBeLessThanOrEqual(1_000 + WORK_MS)
    expect(work(cap, clock, 60_000).refused).toBe(0)
    for (const stream of streams) stream?.release()
    clock.advance(1)
    expect(cap.count()).toBe(0)
    expect(work(cap, clock, 10_000).refused).toBe(0)
  })

  test('returns to the limit of short work when long work has ended', () => {
    const clock = new FakeClock()
    const cap = capOf(clock, algorithm, { max: 20 })
    const streams = Array.from({ length: 15 }, () => cap.acquire())
    work(cap, clock, 10_000)
    for (const stream of streams) stream?.release()
    work(cap, clock, 1_000)
    expect(cap.limit).toBeLessThanOrEqual(20)
  })

  test('admits work that never ends only as fast as the initial limit for each second', () => {
    const clock = new FakeClock()
    const cap = capOf(clock, algorithm)
    for (let ms = 0; ms < 5_000; ms += WORK_MS) {
      cap.acquire()
      cap.acquire()
      clock.advance(WORK_MS)
    }
    expect(cap.count()).toBeLessThanOrEqual(20 * 6)
  })

  test('does not count places of permits that were revoked as long work', () => {
    const clock = new FakeClock()
    const timeout = algorithm === 'aimd' ? '1s' : undefined
    const limit = adaptive({ algorithm, timeout })
    const cap = createInflightLimiter({ clock, maxHoldMs: '10s', limit } as never) as LocalInflightLimiter
    for (let stream = 0; stream < 20; stream++) cap.acquire()
    clock.advance(11_000)
    expect(cap.count()).toBe(0)
    const permits = Array.from({ length: 50 }, () => cap.acquire())
    expect(permits.filter(Boolean)).toHaveLength(20)
  })
})

test('work that has become slow is not counted apart from other work if its client once did it fast', () => {
  const clock = new FakeClock()
  const cap = createInflightLimiter({ clock, limit: adaptive() })
  const asClient = (client: string): AcquireOptions => ({ client })
  const serve = (forMs: number, ask: (permits: Permit[]) => void): void => {
    for (let ms = 0; ms < forMs; ms += WORK_MS) {
      const permits: Permit[] = []
      ask(permits)
      clock.advance(WORK_MS)
      for (const permit of permits) permit.release()
    }
  }
  const take = (permits: Permit[], client: string): void => {
    const permit = cap.acquire(undefined, asClient(client))
    if (permit) permits.push(permit)
  }
  serve(10_000, (permits) => {
    take(permits, 'reports')
    take(permits, 'pages')
  })
  // a dependency of the reports hangs: two end now and then, and others wait
  const waiting: Permit[] = []
  let elapsedMs = 0
  serve(30_000, (permits) => {
    take(permits, 'pages')
    const permit = cap.acquire(undefined, asClient('reports'))
    if (permit) waiting.push(permit)
    elapsedMs += WORK_MS
    if (elapsedMs % 200 === 0 && elapsedMs >= 2_000) waiting.shift()?.release()
  })
  expect(cap.count()).toBeLessThan(200)
})
