import { expect, test } from '@jest/globals'
import { InflightGate } from '@sluice/http'
import { type AcquireOptions, byIp, createInflightLimiter, type Permit, type Priority } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight, type QueueOptions } from '@sluice/overload'
import { eachSeed, FakeClock, type LoadSource, quantileOf, runOverload, type SeededRandom } from '@sluice/testkit'

const PRIORITIES: readonly Priority[] = ['critical', 'high', 'normal', 'low', 'sheddable']
const QUEUE = { max: 24, maxWaitMs: 200 }

async function play(random: SeededRandom, sources: LoadSource[], queue?: QueueOptions, serviceMs = 100, seconds = 60) {
  const clock = new FakeClock()
  const limit = adaptive({ min: 2, max: 150 })
  const cap = createInflightLimiter({ limit, clock, backend: prioritizedInflight({ queue, clock }) })
  const acquire = cap.acquire.bind(cap)
  const criticalAt: number[] = []
  cap.acquire = (key, options) => {
    if (options?.priority === 'critical') criticalAt.push(clock.now())
    return acquire(key, options)
  }
  const run = await runOverload({
    clock,
    random,
    cap,
    workers: 12,
    serviceMs: () => serviceMs,
    sources,
    durationMs: seconds * 1_000,
  })
  return { ...run, criticalAt }
}

/** Part of requests that workers of 100 ms of work complete if they arrive alone and wait at most 200 ms in a row. */
function idealPart(arrivals: readonly number[]): number {
  const freeAt = Array.from({ length: 12 }, () => 0)
  let served = 0
  for (const at of arrivals) {
    freeAt.sort((one, other) => one - other)
    if (freeAt[0] - at > QUEUE.maxWaitMs) continue
    freeAt[0] = Math.max(at, freeAt[0]) + 100
    served++
  }
  return served / arrivals.length
}

test.each([undefined, { max: 24, maxWaitMs: 500 }])(
  'clients that want more than their share get equal shares, the others what they want, queue: %s',
  (queue) =>
    eachSeed(2, async (random, seed) => {
      const sources = [150, 50, 10].map((rate, index) => ({ rate: () => rate, client: String(index) }))
      const { sources: results } = await play(random, sources, queue)
      const completed = results.map((one) => one.completed / 60)
      const admitted = results.map((one) => one.admitted / one.arrived)
      process.stdout.write(`seed ${seed}: ${completed.map((one) => one.toFixed(1))} per second, admitted ${admitted}\n`)
      for (const [index, fair] of [60, 50, 10].entries())
        expect(Math.abs(completed[index] / fair - 1)).toBeLessThan(queue ? 0.1 : 0.12)
      expect(admitted[1]).toBeGreaterThan(queue ? 0.97 : 0.88)
      expect(admitted[2]).toBeGreaterThan(queue ? 0.985 : 0.88)
    }),
)

/** Requests per second that a cap without a queue completes for clients with different addresses. */
async function completedOf(random: SeededRandom, rates: number[], options: object = {}): Promise<number[]> {
  const clock = new FakeClock()
  const gate = new InflightGate<object, never>({
    limit: adaptive({ min: 2, max: 150 }),
    clock,
    observers: [],
    ...options,
  })
  const viewOf = (ip: string) => ({ ip, method: 'GET', route: '/', header: () => undefined, raw: {} })
  const acquire = (_key?: string, { client = '' }: AcquireOptions = {}): Permit | undefined => {
    const check = gate.check(viewOf(client))
    if (check instanceof Promise) throw new Error('a cap without a queue answered later')
    return check?.permit
  }
  const { sources } = await runOverload({
    clock,
    random,
    cap: { acquire, limit: 0, limitOf: () => 0, count: () => 0, name: '', close: () => {} },
    workers: 12,
    serviceMs: () => 100,
    sources: rates.map((rate, index) => ({ rate: () => rate, client: `192.0.2.${index}` })),
    durationMs: 60_000,
  })
  return sources.map((one) => one.completed / 60)
}

const sum = (all: readonly number[]): number => all.reduce((one, other) => one + other, 0)
const ADAPTIVE = [{}, { limit: adaptive({ max: 12 }) }, { limit: adaptive({ min: 1, max: 5 }) }]
const FIXED = [3, 12, 20].map((limit) => ({ limit, fairBy: byIp() }))
const EQUAL = [...ADAPTIVE, ...FIXED].flatMap((options) => [1, 2, 8].map((clients) => ({ clients, options })))

test.each(EQUAL)('clients that are equal are compared at no cost: $clients, with $options', ({ clients, options }) =>
  eachSeed(2, async (random, seed) => {
    const rates = Array.from({ length: clients }, () => 180 / clients)
    const compared = sum(await completedOf(random, rates, options))
    const equal = sum(await completedOf(random, rates, { ...options, fairBy: false }))
    process.stdout.write(`seed ${seed}: ${compared.toFixed(1)} per second, ${equal.toFixed(1)} without fairness\n`)
    expect(compared).toBeGreaterThan(0.95 * equal)
  }),
)

test('an adaptive cap without further options gives each address its share', () =>
  eachSeed(2, async (random, seed) => {
    const completed = await completedOf(random, [150, 50, 10])
    process.stdout.write(`seed ${seed}: ${completed.map((one) => one.toFixed(1))} per second\n`)
    for (const [index, fair] of [60, 50, 10].entries()) expect(Math.abs(completed[index] / fair - 1)).toBeLessThan(0.13)
  }))

test.each([0, 60])('clients with new names together get no more than a known one, from %i seconds on', (startS) =>
  eachSeed(2, async (random, seed) => {
    const flood: LoadSource = {
      rate: (at) => (at < startS * 1_000 ? 1 : 150),
      client: () => `name-${Math.floor(600 * random.next())}`,
    }
    const sources = [{ rate: () => 50, client: 'user' }, flood]
    const { sources: results } = await play(random, sources, undefined, 100, startS + 60)
    const admitted = results.map((one) => one.admitted / one.arrived)
    process.stdout.write(`seed ${seed}: admitted ${admitted}\n`)
    expect(admitted[0]).toBeGreaterThan(0.87)
  }),
)

const RUNS = [1.4, 4, 10].flatMap((factor) => [undefined, QUEUE].map((queue) => ({ factor, queue })))

test.each(RUNS)('at $factor times its capacity a cap refuses the least important requests, queue: $queue', (run) =>
  eachSeed(2, async (random, seed) => {
    const total = 120 * run.factor
    const rates: [Priority, number][] = [
      ['critical', 12],
      ['high', 24],
      ['normal', 36],
      ['low', total * 0.3],
      ['sheddable', total * 0.7 - 72],
    ]
    const sources = rates.map(([priority, rate]): LoadSource => ({ rate: () => rate, priority }))
    const { sources: results } = await play(random, sources, run.queue)
    const admitted = results.map((one) => one.admitted / one.arrived)
    const completed = results.reduce((sum, one) => sum + one.completed, 0) / 60
    const shares = admitted.map((one, index) => `${rates[index][0]} ${(100 * one).toFixed(1)} %`)
    process.stdout.write(`seed ${seed}: ${completed.toFixed(1)} per second; admitted ${shares.join(', ')}\n`)
    expect(completed).toBeGreaterThan(0.9 * 120)
    expect(admitted[0]).toBeGreaterThan(0.98)
    expect(admitted[1]).toBeGreaterThan(0.95)
    expect(admitted[4]).toBeLessThan(0.3)
    expect(quantileOf(results[0].latencies, 0.99)).toBeLessThan(3 * 100)
  }),
)

test.each([undefined, QUEUE])('a critical request is not refused while others are admitted, queue: %s', (queue) =>
  eachSeed(6, async (random, seed) => {
    const sources: LoadSource[] = [
      { rate: () => 120, priority: 'critical' },
      { rate: () => 1_080, priority: 'normal' },
    ]
    const { sources: results, criticalAt } = await play(random, sources, queue)
    const admitted = results.map((one) => one.admitted / one.arrived)
    const completed = results.map((one) => one.completed / 60)
    // more arrive than can be served if they are many by chance
    const ideal = idealPart(criticalAt)
    process.stdout.write(
      `seed ${seed}: ${completed.map((one) => one.toFixed(1))} per second, admitted ${admitted}, ideal ${ideal}\n`,
    )
    expect(admitted[0] / ideal).toBeGreaterThan(queue ? 0.975 : 0.925)
    expect(completed[0] + completed[1]).toBeGreaterThan(0.9 * 120)
  }),
)

test('a cap that is not full refuses no request', () =>
  eachSeed(2, async (random) => {
    const sources = PRIORITIES.map((priority): LoadSource => ({ rate: () => 8, priority }))
    const { sources: results } = await play(random, sources)
    expect(results.map((one) => one.refused)).toEqual([0, 0, 0, 0, 0])
  }))

test('two seconds after an overload no request is refused', () =>
  eachSeed(2, async (random) => {
    const sources: LoadSource[] = [
      { rate: (at) => (at < 20_000 ? 2_000 : 0.001), priority: 'normal' },
      { rate: () => 40, priority: 'sheddable' },
    ]
    const { sources: results } = await play(random, sources)
    const overloadSeconds = 22
    expect(results[1].completed).toBeGreaterThan(0.9 * 40 * (60 - overloadSeconds))
  }))
