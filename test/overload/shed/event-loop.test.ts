import { expect, test } from '@jest/globals'
import type { Priority } from '@sluice/limiter-core'
import {
  EventLoopModel,
  eachSeed,
  type LoopRequest,
  quantileOf,
  runEventLoop,
  type SeededRandom,
} from '@sluice/testkit'
import { HealthShedder } from '../../../packages/http/src/overload/health/shedder.ts'
import { shedderRules } from '../../../packages/http/src/overload/health/shedder-options.ts'

const SERVICE_MS = 5
const CAPACITY = 1_000 / SERVICE_MS
/** Milliseconds of CPU that a refusal by node:http takes. */
const REFUSAL_MS = 0.04
const CALM_MS = 2_000
const SETTLED_MS = CALM_MS + 20 * SERVICE_MS
const END_MS = 20_000

type Mix = Readonly<Partial<Record<Priority, number>>>
interface Run {
  readonly load: number
  readonly mix: Mix
  readonly waits?: boolean
  readonly measures?: boolean
}

function shedderOf(model: EventLoopModel, random: SeededRandom, measures = true): HealthShedder {
  const meters = measures ? { loopTimes: () => ({ active: model.workedMs, idle: model.now() - model.workedMs }) } : {}
  return new HealthShedder(shedderRules({ clock: model, random: () => random.next() }), meters)
}

/** Half of the capacity for two seconds, then `load` times the capacity. */
function play(random: SeededRandom, { load, mix, waits = false, measures }: Run): LoopRequest[] {
  const model = new EventLoopModel()
  const shedder = shedderOf(model, random, measures)
  const requests = runEventLoop({
    model,
    random,
    durationMs: END_MS,
    workMs: () => SERVICE_MS,
    refusalMs: REFUSAL_MS,
    waitMs: waits ? (seeded) => 5 + seeded.next() * 20 : undefined,
    sources: Object.entries(mix).map(([priority, share]) => ({
      priority: priority as Priority,
      rate: (atMs) => (atMs < CALM_MS ? 0.5 : load) * CAPACITY * share,
    })),
    admits: (priority) => shedder.admits(priority),
  })
  shedder.close()
  return requests
}

/** Part of the capacity that is used for completed requests between two times. */
function goodput(requests: readonly LoopRequest[], fromMs: number, toMs: number): number {
  const done = requests.filter(
    ({ isAdmitted, endMs }) => isAdmitted && endMs !== undefined && endMs >= fromMs && endMs < toMs,
  )
  return (done.length * SERVICE_MS) / (toMs - fromMs)
}

/** Part of the requests of a priority that are admitted once the load has risen. */
function admitted(requests: readonly LoopRequest[], priority: Priority): number {
  const decided = requests.filter(
    (one) => one.priority === priority && one.atMs >= CALM_MS && one.isAdmitted !== undefined,
  )
  return decided.filter((one) => one.isAdmitted).length / decided.length
}

function latencies(requests: readonly LoopRequest[]): number[] {
  return requests.flatMap(({ isAdmitted, atMs, endMs }) =>
    isAdmitted && endMs !== undefined && atMs >= SETTLED_MS ? [endMs - atMs] : [],
  )
}

const MANY_LESS_IMPORTANT: Mix = { critical: 0.01, high: 0.02, normal: 0.03, low: 0.3, sheddable: 0.64 }
const HALF_CRITICAL: Mix = { critical: 0.05, high: 0.04, normal: 0.11, low: 0.3, sheddable: 0.5 }

const RUNS: readonly Run[] = [MANY_LESS_IMPORTANT, HALF_CRITICAL].flatMap((mix) =>
  [1.4, 10].flatMap((load) => [
    { load, mix },
    { load, mix, waits: true },
    { load, mix, measures: false },
  ]),
)

test.each(RUNS)('critical requests pass and the work goes on under overload: %j', (run) =>
  eachSeed(2, (random, seed) => {
    const requests = play(random, run)
    const done = goodput(requests, SETTLED_MS, END_MS)
    const times = latencies(requests)
    const [p50, p99] = [quantileOf(times, 0.5), quantileOf(times, 0.99)].map((ms) => ms / SERVICE_MS)
    const shares = (Object.keys(run.mix) as Priority[]).map(
      (one) => `${one} ${(100 * admitted(requests, one)).toFixed(1)} %`,
    )
    process.stdout.write(
      `seed ${seed}: ${(100 * done).toFixed(1)} % of the capacity, latency ${p50.toFixed(1)} and ` +
        `${p99.toFixed(1)} service times (p50, p99), admitted ${shares.join(', ')}\n`,
    )
    expect(done).toBeGreaterThan(0.9)
    expect(admitted(requests, 'critical')).toBeGreaterThan(run.waits ? 0.97 : 0.99)
    expect(admitted(requests, 'critical') + 0.02).toBeGreaterThan(admitted(requests, 'normal'))
    expect(admitted(requests, 'normal') + 0.02).toBeGreaterThan(admitted(requests, 'low'))
    expect(admitted(requests, 'low') + 0.02).toBeGreaterThan(admitted(requests, 'sheddable'))
    expect(p50).toBeLessThan(20)
    // settled, and without oscillation
    for (let atMs = SETTLED_MS; atMs + 500 <= END_MS; atMs += 500) {
      expect(goodput(requests, atMs, atMs + 500)).toBeGreaterThan(0.75)
    }
  }),
)

test.each([{ measures: true }, { measures: false }])(
  'CORS preflights, which pass without being counted, do not change who is refused: %j',
  ({ measures }) =>
    eachSeed(2, (random) => {
      const model = new EventLoopModel()
      const shedder = shedderOf(model, random, measures)
      const rate = (share: number) => (atMs: number) => (atMs < CALM_MS ? 0.5 : 10) * CAPACITY * share
      let workMs = SERVICE_MS
      // the source of critical requests sends a preflight for each other request
      const all = runEventLoop({
        model,
        random,
        durationMs: END_MS,
        workMs: () => workMs,
        refusalMs: REFUSAL_MS,
        sources: [
          { priority: 'critical', rate: rate(1) },
          { priority: 'normal', rate: rate(0.1) },
          { priority: 'low', rate: rate(0.9) },
        ],
        admits: (priority) => {
          const isPreflight = priority === 'critical'
          workMs = isPreflight ? REFUSAL_MS : SERVICE_MS
          return isPreflight || shedder.admits(priority)
        },
      })
      shedder.close()
      const requests = all.filter(({ priority }) => priority !== 'critical')
      // preflights and refusals take 8 % each
      expect(goodput(requests, SETTLED_MS, END_MS)).toBeGreaterThan(0.8)
      expect(admitted(requests, 'normal')).toBeGreaterThan(0.75)
      expect(admitted(requests, 'low')).toBeLessThan(0.02)
      expect(quantileOf(latencies(requests), 0.99)).toBeLessThan(15 * SERVICE_MS)
    }),
)

test('requests of one priority are refused as they exceed the capacity, and the others wait a short time', () =>
  eachSeed(2, (random) => {
    const requests = play(random, { load: 10, mix: { normal: 1 } })
    expect(goodput(requests, SETTLED_MS, END_MS)).toBeGreaterThan(0.9)
    expect(admitted(requests, 'normal')).toBeLessThan(0.11)
    expect(quantileOf(latencies(requests), 0.99)).toBeLessThan(15 * SERVICE_MS)
  }))

test('critical requests alone above the capacity are refused when the delay is long', () =>
  eachSeed(2, (random) => {
    const requests = play(random, { load: 4, mix: { critical: 1 } })
    expect(goodput(requests, SETTLED_MS, END_MS)).toBeGreaterThan(0.9)
    expect(admitted(requests, 'critical')).toBeLessThan(0.3)
    expect(quantileOf(latencies(requests), 0.99)).toBeLessThan(60 * SERVICE_MS)
  }))

test('a process with time left refuses nothing', () =>
  eachSeed(4, (random) => {
    const requests = play(random, {
      load: 0.5,
      mix: { critical: 0.2, high: 0.2, normal: 0.2, low: 0.2, sheddable: 0.2 },
    })
    expect(admitted(requests, 'normal')).toBe(1)
    expect(admitted(requests, 'sheddable')).toBeGreaterThan(0.995)
  }))

test('one long request is not an overload', () => {
  const model = new EventLoopModel()
  const shedder = new HealthShedder(shedderRules({ clock: model }), {})
  const answers: boolean[] = []
  for (let second = 0; second < 20; second++) {
    model.on(second * 1_000, () => {
      answers.push(shedder.admits('sheddable'))
      model.work(300)
    })
    // these have waited behind it
    for (let other = 0; other < 3; other++) {
      model.on(second * 1_000 + 50 + other, () => {
        answers.push(shedder.admits('sheddable'))
        model.work(5)
      })
    }
  }
  model.run(21_000)
  expect(answers).toEqual(Array(80).fill(true))
})

test('refusals end when the load ends', () =>
  eachSeed(2, (random) => {
    const model = new EventLoopModel()
    const shedder = new HealthShedder(shedderRules({ clock: model, random: () => random.next() }), {})
    const requests = runEventLoop({
      model,
      random,
      durationMs: 8_000,
      workMs: () => SERVICE_MS,
      refusalMs: REFUSAL_MS,
      sources: [{ priority: 'low', rate: (atMs) => (atMs < 4_000 ? 10 : 0.5) * CAPACITY }],
      admits: (priority) => shedder.admits(priority),
    })
    const after = requests.filter(({ atMs }) => atMs > 4_600)
    expect(after.filter(({ isAdmitted }) => isAdmitted === false)).toEqual([])
    expect(shedder.pressure).toBe(0)
  }))
