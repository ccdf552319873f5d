// Fast work beside work of a dependency that becomes slow, in virtual time, under one adaptive cap.

import { describe, expect, test } from '@jest/globals'
import { type AcquireOptions, createInflightLimiter, type LocalInflightLimiter } from '@sluice/limiter-core'
import { adaptive, type LimitAlgorithmName, prioritizedInflight } from '@sluice/overload'
import { baseSeed, FakeClock, seededRandom } from '@sluice/testkit'

const FAST_MS = 20
const CONNECTIONS = 12
/** Times in ms at which the dependency becomes slow, at which it recovers, and at which the test ends. */
const [SLOW_FROM, SLOW_UNTIL, END] = [15_000, 55_000, 80_000]
const PHASES = ['before', 'slow', 'after'] as const
type Phase = (typeof PHASES)[number]

interface Scenario {
  readonly algorithm?: LimitAlgorithmName
  readonly options: (kind: 'fast' | 'slow') => AcquireOptions
  readonly queue?: boolean
  /** Duration of work that begins at a time in the dependency. */
  readonly slowMs?: (now: number) => number
  /** Whether fast work needs a connection, too. */
  readonly isShared?: boolean
  readonly slowPerSecond?: number
}

interface Result {
  /** Part of the fast requests that were admitted in each phase. */
  readonly fast: Record<Phase, number>
  readonly slow: Record<Phase, number>
  largestLimit: number
}

const dependencyMs = (now: number): number => (now >= SLOW_FROM && now < SLOW_UNTIL ? 2_000 : 10)

async function run({ algorithm = 'throughput', options, queue, ...scenario }: Scenario): Promise<Result> {
  const { slowMs = dependencyMs, isShared = false, slowPerSecond = 60 } = scenario
  const clock = new FakeClock()
  const startedAt = clock.now()
  const random = seededRandom(baseSeed())
  const backend = queue ? prioritizedInflight({ clock, queue: { max: 24, maxWaitMs: 400 } }) : undefined
  const cap = createInflightLimiter({ clock, limit: adaptive({ algorithm }), backend } as never) as LocalInflightLimiter
  const counts = { fast: newCounts(), slow: newCounts() }
  let largestLimit = 0
  let busy = 0
  const pool: (() => void)[] = []
  const now = (): number => clock.now() - startedAt
  const next = (): void => {
    while (busy < CONNECTIONS && pool.length > 0) {
      const done = pool.shift() as () => void
      busy++
      clock.after(slowMs(now()), () => {
        busy--
        done()
        next()
      })
    }
  }
  const arrive = async (kind: 'fast' | 'slow'): Promise<void> => {
    const at = now()
    const count = counts[kind][at < SLOW_FROM ? 'before' : at < SLOW_UNTIL + 2_000 ? 'slow' : 'after']
    count.asked++
    const permit = await cap.acquire(undefined, options(kind))
    largestLimit = Math.max(largestLimit, cap.limit)
    if (!permit) return
    count.admitted++
    const done = (): void => void permit.release()
    if (kind === 'fast' && !isShared) clock.after(FAST_MS, done)
    else {
      pool.push(done)
      next()
    }
  }
  const arrivals = (['fast', 'slow'] as const).flatMap((kind) => {
    const perMs = (kind === 'fast' ? 100 : slowPerSecond) / 1_000
    const times: { at: number; kind: 'fast' | 'slow' }[] = []
    for (let at = 0; at < END; at += -Math.log(1 - random.next()) / perMs) times.push({ at, kind })
    return times
  })
  arrivals.sort((one, other) => one.at - other.at)
  for (const { at, kind } of arrivals) {
    clock.advance(at - now())
    void arrive(kind)
    for (let turn = 0; turn < 6; turn++) await undefined
  }
  return { fast: shares(counts.fast), slow: shares(counts.slow), largestLimit }
}

type Counts = Record<Phase, { asked: number; admitted: number }>

function newCounts(): Counts {
  const [before, slow, after] = PHASES.map(() => ({ asked: 0, admitted: 0 }))
  return { before, slow, after } as Counts
}

function shares(counts: Counts): Record<Phase, number> {
  const [before, slow, after] = PHASES.map((phase) => counts[phase].admitted / Math.max(1, counts[phase].asked))
  return { before, slow, after } as Record<Phase, number>
}

const ways: readonly (readonly [string, Scenario['options'], boolean])[] = [
  ['classes', (kind) => ({ workClass: kind }), false],
  ['clients and a queue', (kind) => ({ client: kind, workClass: kind }), true],
  ['priorities and a queue', (kind) => ({ priority: kind === 'fast' ? 'critical' : 'normal', workClass: kind }), true],
]
const cases = (['throughput', 'gradient', 'vegas'] as const).flatMap((algorithm) =>
  ways.map(([name, options, queue]) => ({ name: `${algorithm}, ${name}`, algorithm, options, queue })),
)

describe('one adaptive cap in front of fast work and of a dependency that becomes slow', () => {
  test.each(cases)('admits the fast work: $name', async (scenario) => {
    const { fast, slow, largestLimit } = await run(scenario)
    expect(Math.min(fast.before, fast.slow, fast.after)).toBeGreaterThan(0.98)
    // 12 connections serve 6 of 60 a second while it is slow
    expect(slow.slow).toBeGreaterThan(0.09)
    expect(slow.after).toBeGreaterThan(0.98)
    expect(largestLimit).toBeLessThanOrEqual(100)
  })

  test('admits the fast work if the dependency fills the cap at once', async () => {
    const { fast } = await run({ options: (kind) => ({ workClass: kind }), slowPerSecond: 600 })
    expect(fast.slow).toBeGreaterThan(0.97)
  })

  test('admits the fast work while the dependency does not answer at all', async () => {
    const hung = (now: number): number => (now >= SLOW_FROM && now < SLOW_UNTIL ? 60_000 : 10)
    const { fast, largestLimit } = await run({ options: (kind) => ({ workClass: kind }), slowMs: hung })
    expect(fast.slow).toBeGreaterThan(0.97)
    expect(largestLimit).toBeLessThanOrEqual(100)
  })

  test('does not grow with the number of classes if all of them wait for the dependency', async () => {
    let next = 0
    const options: Scenario['options'] = () => ({ workClass: `route ${next++ % 30}` })
    const { largestLimit } = await run({ options, isShared: true })
    expect(largestLimit).toBeLessThanOrEqual(60)
  })
})
