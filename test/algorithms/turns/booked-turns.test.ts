import { expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { algorithms, BookingPolicy } from '@sluice/limiter-core/backend'
import { eachSeed, type SeededRandom, seededRandom } from '@sluice/testkit'
import { type Client, mostIn, type Outcome, type OwnPolicy, serve } from './returning-clients.ts'

const LIMIT = 10
const names = Object.keys(algorithms) as AlgorithmName[]
/** Each algorithm, and the most units that it admits in any window. */
const shapes: readonly (readonly [string, Partial<OwnPolicy> & { algorithm: AlgorithmName }, number])[] = [
  ['fixed-window', { algorithm: 'fixed-window' }, 2 * LIMIT],
  ['sliding-window', { algorithm: 'sliding-window' }, 2 * LIMIT],
  ['sliding-window, 4 slices', { algorithm: 'sliding-window', slices: 4 }, LIMIT],
  ['sliding-log', { algorithm: 'sliding-log' }, LIMIT],
  ['token-bucket', { algorithm: 'token-bucket' }, 2 * LIMIT],
  ['token-bucket, burst 1', { algorithm: 'token-bucket', burst: 1 }, LIMIT + 1],
  ['token-bucket, burst 30', { algorithm: 'token-bucket', burst: 30 }, LIMIT + 30],
  ['gcra', { algorithm: 'gcra' }, 2 * LIMIT],
  ['gcra, burst 1', { algorithm: 'gcra', burst: 1 }, LIMIT + 1],
]
const windows = [
  ['1s', 1_000],
  ['1m', 60_000],
] as const
const cases = shapes.flatMap(([name, shape, most]) =>
  windows.map(([window, windowMs]) => ({ name, window, windowMs, most, policy: { ...shape, limit: LIMIT, window } })),
)
const drains = ({ algorithm = 'gcra' }: OwnPolicy): boolean => ['token-bucket', 'gcra'].includes(algorithm)

function clients(count: number, one: (index: number) => Client): Client[] {
  return Array.from({ length: count }, (_, index) => one(index))
}

function booked(policy: OwnPolicy): OwnPolicy {
  return { ...policy, retry: 'booked' }
}

function paceOf({ algorithm, burst, slices }: (typeof cases)[number]['policy'], windowMs: number): number {
  const policy = { name: 'p', algorithm, limit: LIMIT, windowMs, ...(burst && { burst }), ...(slices && { slices }) }
  return new BookingPolicy(algorithms[algorithm].compile(policy)).paceMs
}

const shareOf = ({ onFirstReturn, returned }: Outcome): number => onFirstReturn / returned

/** Shares of several runs with clients that start at random times of a window. */
function shares(
  { policy, windowMs, most }: (typeof cases)[number],
  client: (index: number, random: SeededRandom) => Partial<Client> = () => ({}),
  count = 100,
): number {
  let [returned, onFirstReturn] = [0, 0]
  for (let seed = 1; seed <= 5; seed++) {
    const random = seededRandom(seed)
    const all = clients(count, (index) => ({ startMs: random.next() * windowMs, ...client(index, random) }))
    const outcome = serve(booked(policy), all)
    expect(mostIn(outcome.admitted, windowMs)).toBeLessThanOrEqual(most)
    returned += outcome.returned
    onFirstReturn += outcome.onFirstReturn
  }
  return onFirstReturn / returned
}

test.each(cases)(
  '100 clients that are denied at one instant all pass on their first return: $name in $window',
  (one) => {
    const all = clients(100, () => ({ startMs: 0 }))
    const outcome = serve(booked(one.policy), all)
    expect(shareOf(outcome)).toBe(1)
    expect(outcome.admitted).toHaveLength(100)
    expect(mostIn(outcome.admitted, one.windowMs)).toBeLessThanOrEqual(one.most)
    // one denial for each of them, where today they have several hundred
    expect(outcome.denials).toBeLessThan(100)
    expect(shareOf(serve(one.policy, all))).toBeLessThan(0.15)
  },
)

// under algorithms that drain, turns are due while newcomers still arrive, and these may take them
test.each(cases)(
  '100 clients that start at any time of a window pass on their first return: $name in $window',
  (one) => {
    expect(shares(one)).toBeGreaterThanOrEqual(drains(one.policy) ? 0.94 : 1)
  },
)

test.each(cases)('clients with up to 50 ms of latency pass on their first return: $name in $window', (one) => {
  const share = shares(one, (_, random) => ({ latencyMs: () => random.next() * 50 }))
  expect(share).toBeGreaterThanOrEqual(drains(one.policy) ? 0.92 : 0.99)
})

test.each(cases)('clients pass on their first return if every other one never returns: $name in $window', (one) => {
  const share = shares(one, (index) => ({ leaves: index % 2 === 0 }))
  expect(share).toBeGreaterThanOrEqual(drains(one.policy) ? 0.92 : 0.99)
})

test.each(cases)('turns of clients that never return are free two seconds later: $name in $window', (one) => {
  const queue = clients(30, () => ({ startMs: 0, leaves: true }))
  const { longestMs } = serve(booked(one.policy), queue)
  const { admitted } = serve(booked(one.policy), [...queue, { startMs: longestMs + 2 * one.windowMs + 2_001 }])
  expect(admitted.at(-1)).toBe(1_000 + longestMs + 2 * one.windowMs + 2_001)
})

test.each(cases)('a client that hammers books a bounded queue of its own key: $name in $window', (one) => {
  const { policy, windowMs, most } = one
  const hammering: Client = { key: 'hammer', startMs: 0, hammersMs: windowMs / 100 }
  const until = 3 * windowMs
  const alone = serve(booked(policy), [hammering], until)
  expect(alone.longestMs).toBeLessThanOrEqual(
    10 * paceOf(policy, windowMs) * Math.max(LIMIT, policy.burst ?? 0) + 2 * windowMs + 2_000,
  )
  expect(mostIn(alone.admitted, windowMs)).toBeLessThanOrEqual(most)
  const others = clients(60, () => ({ startMs: 0 }))
  const beside = serve(booked(policy), [...others, hammering], 40 * windowMs + 60_000)
  expect(shareOf(beside)).toBe(1)
})

// each admitted client is a newcomer again, and newcomers take turns that are due
test.each(cases)('most clients that ask again and again pass on their first return: $name in $window', (one) => {
  const random = seededRandom(1)
  const { policy, windowMs, most } = one
  const all = clients(100, () => ({
    startMs: random.next() * windowMs,
    asksAgainMs: () => 2 * random.next() * windowMs,
  }))
  const outcome = serve(booked(policy), all, 20 * windowMs)
  expect(mostIn(outcome.admitted, windowMs)).toBeLessThanOrEqual(most)
  const inTurns = shareOf(outcome)
  expect(inTurns).toBeGreaterThanOrEqual(windowMs === 1_000 ? 0.25 : 0.88)
  expect(inTurns).toBeGreaterThan(1.5 * shareOf(serve(policy, all, 5 * windowMs)))
})

test.each(cases)('clients with equal costs pass on their first return: $name in $window', (one) => {
  if ((one.policy.burst ?? LIMIT) < 3) return
  expect(shares(one, () => ({ cost: 3 }), 25)).toBeGreaterThanOrEqual(drains(one.policy) ? 0.92 : 0.99)
})

test.each(names)('reading a turn changes nothing, and a wait is the turn that is booked: %s', (algorithm) =>
  eachSeed(20, (random) => {
    const policy = new BookingPolicy(algorithms[algorithm].compile({ name: 'p', algorithm, limit: 8, windowMs: 9_000 }))
    const cells = new Float64Array(policy.cells)
    let now = 1_000_000 * random.next()
    let latest = now
    for (let step = 0; step < 300; step++) {
      // the clock may be set back
      now += random.whole(20) === 0 ? -random.whole(40_000) : random.whole(1_500)
      latest = Math.max(latest, now)
      const cost = random.whole(10)
      const before = cells.slice()
      const waitMs = policy.waitMs(cells, 0, now, cost)
      const left = policy.remaining(cells, 0, now)
      expect(policy.waitMs(cells, 0, now, left)).toBe(0)
      expect(left === 8 || policy.waitMs(cells, 0, now, left + 1) > 0).toBe(true)
      expect(cells).toEqual(before)
      if (waitMs === 0) {
        expect(policy.inner.waitMs(cells, 0, now, cost)).toBe(0)
        policy.spend(cells, 0, now, cost)
      } else if (cost > 8) expect(waitMs).toBe(Number.POSITIVE_INFINITY)
      else {
        expect(waitMs % 1_000).toBe(0)
        policy.book(cells, 0, now, cost)
      }
      expect(cells.every(Number.isFinite)).toBe(true)
      if (now < latest) continue
      const unusedAt = now + policy.keptMs(cells, 0, now) + 1
      expect(policy.remaining(cells, 0, unusedAt)).toBe(8)
      expect(policy.waitMs(cells, 0, unusedAt, 8)).toBe(0)
    }
  }),
)

test.each(names)('a queue from before the clock was set back does not last longer than a new one: %s', (algorithm) => {
  const policy = new BookingPolicy(algorithms[algorithm].compile({ name: 'p', algorithm, limit: 5, windowMs: 10_000 }))
  const cells = new Float64Array(policy.cells)
  const now = 1e9
  for (let times = 0; times < 5; times++) policy.spend(cells, 0, now, 1)
  for (let times = 0; times < 100; times++) policy.book(cells, 0, now, 1)
  // the whole usage is refunded: the turns stay booked
  cells.fill(0, 0, policy.inner.cells)
  expect(policy.waitMs(cells, 0, now, 1)).toBeGreaterThan(0)
  expect(policy.waitMs(cells, 0, now - 1e6, 1)).toBe(0)
})

test.each(names)('queues are carried to another limit, and end two seconds after their last turn: %s', (algorithm) => {
  const of = (limit: number): BookingPolicy =>
    new BookingPolicy(algorithms[algorithm].compile({ name: 'p', algorithm, limit, windowMs: 10_000 }, 20))
  // a limit that is raised further frees the turns: test/regression/limiter/turns-of-a-raised-limit.test.ts
  for (const [before, after] of [
    [5, 6],
    [20, 5],
  ]) {
    const cells = new Float64Array(of(before).cells)
    for (let times = 0; times < before; times++) of(before).spend(cells, 0, 1e6, 1)
    for (let times = 0; times < 30; times++) of(before).book(cells, 0, 1e6, 1)
    const endsAt = 1e6 + of(before).keptMs(cells, 0, 1e6)
    const freeAt = endsAt + 1
    const alone = of(after).inner.waitMs(cells, 0, freeAt, 1)
    expect(of(after).waitMs(cells, 0, freeAt, 1)).toBe(Math.ceil(alone / 1_000) * 1_000)
    expect(of(after).waitMs(cells, 0, 1e6 + 1_000, 1)).toBeGreaterThan(0)
  }
})
