import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Priority } from '@sluice/limiter-core'
import { createShedder, type ShedderOptions } from '@sluice/overload'
import { FakeClock, seededRandom, Warnings } from '@sluice/testkit'
import { HealthShedder } from '../../../packages/http/src/overload/health/shedder.ts'
import { shedderRules } from '../../../packages/http/src/overload/health/shedder-options.ts'

const PRIORITIES: readonly Priority[] = ['sheddable', 'low', 'normal', 'high', 'critical']
const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

class Process {
  readonly clock = new FakeClock()
  heapUsed = 0
  rss = 0
  readonly loopTimes = { active: 0, idle: 0 }

  shedder(options: ShedderOptions): HealthShedder {
    const rules = shedderRules({ eventLoopDelayMs: false, clock: this.clock, random: seededRandom(1).next, ...options })
    return new HealthShedder(rules, {
      heapUsed: () => this.heapUsed,
      rss: () => this.rss,
      loopTimes: () => ({ ...this.loopTimes }),
    })
  }

  /** Lets time pass, with a request each 10 ms, and returns the part of them that was admitted. */
  run(
    shedder: HealthShedder,
    ms: number,
    priority: Priority = 'normal',
    utilization?: (share: number) => number,
  ): number {
    let admitted = 0
    let share = 1
    for (let atMs = 0; atMs < ms; atMs += 10) {
      if (shedder.admits(priority)) admitted++
      share = share * 0.8 + 0.2 * (1 - shedder.probability(priority))
      const part = utilization?.(share) ?? 0
      this.loopTimes.active += 10 * part
      this.loopTimes.idle += 10 * (1 - part)
      this.clock.advance(10)
    }
    return admitted / (ms / 10)
  }
}

function probabilities(shedder: HealthShedder): number[] {
  return PRIORITIES.map((priority) => Number(shedder.probability(priority).toFixed(3)))
}

describe.each(['heapUsed', 'rss'] as const)('%s', (signal) => {
  test('refuses by priority, the more the closer it is to its end', () => {
    const process = new Process()
    const shedder = process.shedder({ [signal]: { from: 1_000, to: 2_000 } })
    const table: Record<number, number[]> = {}
    for (const value of [999, 1_050, 1_250, 1_400, 1_790, 1_900, 5_000]) {
      process[signal] = value
      process.run(shedder, 200)
      table[value] = probabilities(shedder)
    }
    expect(table).toEqual({
      999: [0, 0, 0, 0, 0],
      1050: [0.5, 0, 0, 0, 0],
      1250: [1, 1, 0.5, 0, 0],
      1400: [1, 1, 1, 0.5, 0],
      1790: [1, 1, 1, 1, 0],
      1900: [1, 1, 1, 1, 0.5],
      5000: [1, 1, 1, 1, 1],
    })
    expect([shedder.pressure, shedder.signal]).toEqual([1, signal])
  })

  test('has less effect again only slowly, so that decisions do not alternate', () => {
    const process = new Process()
    const shedder = process.shedder({ [signal]: 1_000 })
    process[signal] = 1_500
    process.run(shedder, 100)
    expect(shedder.pressure).toBe(1)
    process[signal] = 900
    process.run(shedder, 1_000)
    expect(shedder.pressure).toBeGreaterThan(0.3)
    process.run(shedder, 9_000)
    expect([shedder.pressure, shedder.signal]).toEqual([0, undefined])
  })
})

test('refused requests are spread evenly over the requests', () => {
  const process = new Process()
  process.rss = 1_250
  const shedder = process.shedder({ rss: { from: 1_000, to: 2_000 } })
  for (let hundred = 0; hundred < 10; hundred++) {
    expect(Math.abs(process.run(shedder, 1_000) - 0.5)).toBeLessThanOrEqual(0.02)
  }
})

test('the utilization of the event loop settles in its range', () => {
  const process = new Process()
  const shedder = process.shedder({ eventLoopUtilization: { from: 0.8, to: 0.9 } })
  const load = (share: number): number => Math.min(1, 3 * share)
  process.run(shedder, 6_000, 'normal', load)
  const share = process.run(shedder, 10_000, 'normal', load)
  expect(3 * share).toBeGreaterThan(0.7)
  expect(3 * share).toBeLessThan(0.95)
  expect(shedder.signal).toBe('eventLoopUtilization')
})

test('a delay of the event loop is seen in the middle of the turn that causes it', () => {
  const clock = new (class extends FakeClock {
    blockedMs = 0
    override now(): number {
      return super.now() + this.blockedMs
    }
  })()
  const shedder = new HealthShedder(shedderRules({ clock, eventLoopDelayMs: { from: 20, to: 100 } }), {})
  for (let request = 0; request < 8; request++) shedder.admits()
  // a turn that is late, and another one
  clock.blockedMs = 30
  clock.advance(5)
  expect(shedder.probability('normal')).toBeLessThan(0.2)
  clock.blockedMs += 50
  expect(shedder.pressure).toBeGreaterThan(0.5)
  expect(shedder.signal).toBe('eventLoopDelay')
  expect(shedder.admits('normal')).toBe(false)
})

describe('a health check', () => {
  const outcomes: readonly (readonly [string, () => number | boolean | Promise<number | boolean>, number])[] = [
    ['true', () => true, 0],
    ['1', async () => 1, 0],
    ['0.25', async () => 0.25, 0.75],
    ['0', () => 0, 1],
    ['false', async () => false, 0.75],
    ['an error', () => Promise.reject(new Error('down')), 0.75],
    [
      'a thrown error',
      () => {
        throw new Error('down')
      },
      0.75,
    ],
    ['no number', async () => Number.NaN, 0.75],
  ]
  test.each(outcomes)('that returns %s has its pressure', async (_what, health, pressure) => {
    const process = new Process()
    const shedder = process.shedder({ health })
    for (let turn = 0; turn < 4; turn++) {
      process.run(shedder, 100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(shedder.pressure).toBe(pressure)
    expect(warnings.codes).toEqual(
      ['an error', 'a thrown error', 'no number'].includes(_what) ? ['SLUICE_HOOK_FAILED'] : [],
    )
  })

  test('runs once at a time, and counts as failed while it takes longer than its interval', async () => {
    const process = new Process()
    let [started, finish] = [0, (_healthy: boolean): void => {}]
    const shedder = process.shedder({
      health: () => {
        started++
        return new Promise<boolean>((resolve) => {
          finish = resolve
        })
      },
      healthEveryMs: 500,
    })
    process.run(shedder, 400)
    expect([started, shedder.pressure]).toEqual([1, 0])
    process.run(shedder, 5_000)
    expect([started, shedder.pressure]).toEqual([1, 0.75])
    finish(true)
    await new Promise((resolve) => setImmediate(resolve))
    process.run(shedder, 200)
    expect(started).toBe(2)
    finish(true)
    await new Promise((resolve) => setImmediate(resolve))
    process.run(shedder, 300)
    expect(shedder.pressure).toBeLessThan(0.75)
  })

  test('does not run while there are no requests', () => {
    const process = new Process()
    let started = 0
    const shedder = process.shedder({
      health: () => {
        started++
        return true
      },
      healthEveryMs: '1s',
    })
    process.clock.advance(60_000)
    expect([started, process.clock.pending]).toEqual([0, 0])
    process.run(shedder, 2_500)
    expect(started).toBe(3)
    process.clock.advance(60_000)
    expect([started, process.clock.pending]).toEqual([3, 0])
  })
})

test('a closed shedder has no timers and refuses nothing', () => {
  const process = new Process()
  process.rss = 9_000
  const shedder = process.shedder({ rss: 1_000 })
  expect([shedder.admits(), process.clock.pending]).toEqual([false, 1])
  shedder.close()
  expect([shedder.admits('sheddable'), shedder.pressure, process.clock.pending]).toEqual([true, 0, 0])
})

test('clients receive different times to return, longer ones if the pressure is higher', () => {
  const process = new Process()
  const shedder = process.shedder({ rss: { from: 1_000, to: 2_000 } })
  const waits = (rss: number): number[] => {
    process.rss = rss
    process.run(shedder, 100)
    const all = Array.from({ length: 400 }, () => shedder.check('sheddable')?.retryAfterSeconds ?? 0)
    return [...new Set(all)].sort()
  }
  expect(waits(1_100)).toEqual([1, 2])
  expect(waits(2_000)).toEqual([1, 2, 3, 4, 5])
})

test.each<[object, string]>([
  [{ eventLoopDelayMs: 0 }, 'eventLoopDelayMs: expected a number above 0'],
  [{ eventLoopDelayMs: '20ms' }, 'eventLoopDelayMs'],
  [{ eventLoopDelayMs: { from: 20, to: 10 } }, 'eventLoopDelayMs.to: expected a number above 20 (from)'],
  [{ eventLoopDelayMs: { start: 20 } }, 'eventLoopDelayMs: expected one of from, to'],
  [{ eventLoopUtilization: 1 }, 'eventLoopUtilization: expected a number above 0 and below 1'],
  [{ heapUsed: -1 }, 'heapUsed: expected a number above 0'],
  [{ rss: { from: Number.NaN } }, 'rss.from: expected a number above 0'],
  [{ health: true }, 'health: expected a function'],
  [{ random: 1 }, 'random: expected a function'],
  [{ eventLoopDelayMs: false }, 'eventLoopDelayMs: expected a delay, or another signal with it, received false'],
  [{ latency: 3 }, 'expected one of eventLoopDelayMs'],
])('createShedder(%j) is refused', (options, message) => {
  expect(() => createShedder(options as ShedderOptions)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  expect(() => createShedder(options as ShedderOptions)).toThrow(message)
})

test('healthEveryMs must be a duration', () => {
  expect(() => createShedder({ healthEveryMs: 0 })).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_DURATION' }))
})

test.each(['heapUsed', 'rss', 'eventLoopUtilization'] as const)('a runtime without %s refuses the option', (signal) => {
  const rules = shedderRules({ [signal]: 0.5 })
  expect(() => new HealthShedder(rules, {})).toThrow(`${signal}: expected a runtime that measures it`)
})

test('without options it works in this runtime, and with all signals that the runtime has', () => {
  for (const options of [{}, { eventLoopUtilization: 0.9, heapUsed: 2 ** 40, rss: 2 ** 40 }]) {
    const shedder = createShedder(options)
    expect([shedder.admits('sheddable'), shedder.pressure]).toEqual([true, 0])
    shedder.close()
  }
})
