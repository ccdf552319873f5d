// Routes with different dependencies under one adaptive cap, in virtual time. In the middle, the database takes 2 s.

import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, type LocalInflightLimiter } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const CONNECTIONS = 12
const [SLOW_FROM, SLOW_UNTIL, END] = [15_000, 55_000, 80_000]
/** Time in ms within which the answer to a fast request is of use. */
const USEFUL_MS = 1_000

interface Route {
  readonly perSecond: number
  readonly ms: (now: number) => number
  /** Whether its work needs one of the connections. */
  readonly pooled?: boolean
}

type Share = readonly [before: number, slow: number, after: number]

const fast: Route = { perSecond: 100, ms: () => 20 }
const ofDatabase: Route = {
  perSecond: 60,
  ms: (now) => (now >= SLOW_FROM && now < SLOW_UNTIL ? 2_000 : 10),
  pooled: true,
}

interface Way {
  readonly hasCap?: boolean
  readonly hasClasses?: boolean
  readonly hasQueue?: boolean
}

/** Returns the part of the requests of each route that were answered, fast ones in time. */
async function played(
  routes: Readonly<Record<string, Route>>,
  { hasCap = true, hasClasses = true, hasQueue = false }: Way,
  random: SeededRandom,
): Promise<Record<string, Share>> {
  const clock = new FakeClock()
  const startedAt = clock.now()
  const now = (): number => clock.now() - startedAt
  const backend = hasQueue ? prioritizedInflight({ clock, queue: { max: 24, maxWaitMs: 400 } }) : undefined
  const cap = createInflightLimiter({ clock, limit: adaptive(), backend } as never) as LocalInflightLimiter
  let busy = 0
  const pool: { readonly route: Route; readonly done: () => void }[] = []
  const next = (): void => {
    while (busy < CONNECTIONS && pool.length > 0) {
      const { route, done } = pool.shift() as (typeof pool)[number]
      busy++
      clock.after(route.ms(now()), () => {
        busy--
        done()
        next()
      })
    }
  }
  const counts = Object.fromEntries(Object.keys(routes).map((name) => [name, [newCount(), newCount(), newCount()]]))
  const arrive = async (name: string): Promise<void> => {
    const at = now()
    const count = counts[name][at < SLOW_FROM ? 0 : at < SLOW_UNTIL + 2_000 ? 1 : 2]
    count.asked++
    const permit = hasCap ? await cap.acquire(undefined, hasClasses ? { workClass: name } : {}) : { release() {} }
    if (!permit) return
    const route = routes[name]
    const done = (): void => {
      permit.release()
      if (route === ofDatabase || now() - at <= USEFUL_MS) count.answered++
    }
    if (route.pooled) {
      pool.push({ route, done })
      next()
    } else clock.after(route.ms(now()), done)
  }
  const arrivals = Object.entries(routes).flatMap(([name, { perSecond }]) => {
    const times: { at: number; name: string }[] = []
    for (let at = 0; at < END; at += (-Math.log(1 - random.next()) * 1_000) / perSecond) times.push({ at, name })
    return times
  })
  arrivals.sort((one, other) => one.at - other.at)
  for (const { at, name } of arrivals) {
    clock.advance(at - now())
    void arrive(name)
    for (let turn = 0; turn < 6; turn++) await undefined
  }
  clock.advance(60_000)
  const shares = Object.entries(counts).map(([name, all]) => [name, all.map((one) => one.answered / one.asked)])
  return Object.fromEntries(shares)
}

function newCount(): { asked: number; answered: number } {
  return { asked: 0, answered: 0 }
}

const shared = { fast: { ...fast, pooled: true }, slow: ofDatabase }
const ways: readonly (readonly [string, Way])[] = [
  ['without a queue', {}],
  ['with a queue', { hasQueue: true }],
]

describe.each(ways)('an adaptive cap %s', (_, way) => {
  test('answers fast requests that need no connection, and as many of the others as the database can', () =>
    eachSeed(3, async (random) => {
      const { fast: others, slow } = await played({ fast, slow: ofDatabase }, way, random)
      expect(Math.min(...others)).toBeGreaterThan(0.98)
      expect(slow[1]).toBeGreaterThan(0.09)
      expect(Math.min(slow[0], slow[2])).toBeGreaterThan(0.98)
    }))

  test('makes the slow requests yield if the fast ones need the same connections', () =>
    eachSeed(3, async (random) => {
      const { fast: others, slow } = await played(shared, way, random)
      expect(others[1]).toBeGreaterThan(0.9)
      expect(slow[1]).toBeGreaterThan(0.05)
      expect(Math.min(others[0], others[2], slow[0], slow[2])).toBeGreaterThan(0.98)
    }))

  test('does both at the same time', () =>
    eachSeed(3, async (random) => {
      const routes = { fast, pooled: { ...fast, perSecond: 50, pooled: true }, slow: ofDatabase }
      const { fast: others, pooled } = await played(routes, way, random)
      expect(Math.min(...others)).toBeGreaterThan(0.97)
      expect(pooled[1]).toBeGreaterThan(0.88)
      expect(Math.min(pooled[0], pooled[2])).toBeGreaterThan(0.97)
    }))

  test('refuses nothing of a healthy service', () =>
    eachSeed(3, async (random) => {
      const routes = { fast, middle: { perSecond: 30, ms: () => 100 }, report: { perSecond: 2, ms: () => 900 } }
      const results = await played(routes, way, random)
      expect(Math.min(...Object.values(results).flat())).toBeGreaterThan(0.98)
    }))
})

test('nothing is worse than without a cap', () =>
  eachSeed(2, async (random) => {
    const withCap = await played(shared, {}, random)
    const without = await played(shared, { hasCap: false }, random)
    const withoutClasses = await played(shared, { hasClasses: false }, random)
    expect(withCap.fast[1]).toBeGreaterThan(10 * without.fast[1])
    expect(withCap.fast[1]).toBeGreaterThan(5 * withoutClasses.fast[1])
  }))
