import { describe, expect, test } from '@jest/globals'
import { createLimiter, type SyncLimiterOptions } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock } from '@sluice/testkit'

const HOUR = 3_600_000
const HONEST = 400
const BYTES = 65_536

interface Saturation {
  readonly policy: string
  readonly share: number
  readonly noise: number
  readonly bytes: number
}

function scene(options: SketchBackendOptions, ...policies: SyncLimiterOptions['policies']) {
  const clock = new FakeClock()
  const backend = sketchBackend({ bytes: BYTES, ...options, clock })
  const limiter = createLimiter({ policies, backend, clock })
  const events: Saturation[] = []
  const stop = backend.observe?.({
    event: (name, data) => {
      if (name === 'saturated') events.push(data as unknown as Saturation)
    },
  })
  return {
    clock,
    events,
    stop,
    remaining: (key: string) => limiter.take(key).binding.remaining,
    allows: (key: string) => limiter.take(key).allowed,
  }
}

/**
 * Honest clients use half of their limit during a flood of `keys` within an hour. Returns the share of honest clients
 * that were denied when the alarm was raised (-1 if it was not raised), and at the end.
 */
function flood({ allows, clock, events }: ReturnType<typeof scene>, limit: number, keys: number) {
  const wronged = new Set<number>()
  let atAlarm = -1
  let flooded = 0
  for (let visit = 1; visit <= limit / 2; visit++) {
    for (; flooded < (keys * visit) / (limit / 2); flooded++) {
      allows(`flood ${flooded}`)
      if (events.length > 0 && atAlarm < 0) atAlarm = wronged.size / HONEST
    }
    for (let who = 0; who < HONEST; who++) if (!allows(`honest ${who}`)) wronged.add(who)
    clock.advance(HOUR / limit)
  }
  return { atAlarm, wronged: wronged.size / HONEST }
}

describe('observers receive "saturated" before more honest clients are denied than the configured rate', () => {
  test.each<[string, SketchBackendOptions, number, number]>([
    ['linear, limit 20', {}, 20, 60_000],
    ['linear, limit 100', {}, 100, 180_000],
    ['conservative, limit 40', { conservative: true }, 40, 180_000],
    ['8 bits, limit 40, a rate of 5 %', { cells: 8, falseDenialRate: 0.05 }, 40, 150_000],
    ['with a history, limit 20', { history: { unit: '1m', keep: '1h' }, bytes: 2 ** 19 }, 20, 100_000],
  ])('%s', (_name, options, limit, keys) =>
    eachSeed(1, (_random, seed) => {
      const made = scene({ ...options, seed: `a secret of a test ${seed}` }, { limit, window: '1h' })
      const { atAlarm, wronged } = flood(made, limit, keys)
      const { events } = made
      const rate = options.falseDenialRate ?? 0.01
      // otherwise there was no reason to warn
      expect(wronged).toBeGreaterThan(rate)
      expect(atAlarm).toBeGreaterThanOrEqual(0)
      expect(atAlarm).toBeLessThanOrEqual(rate)
      expect(events[0]).toMatchObject({ policy: 'default', bytes: options.bytes ?? BYTES })
      expect(events[0].share).toBeGreaterThan(rate / 2)
      expect(events[0].noise).toBeGreaterThan(limit / 10)
    }),
  )
})

test('there is no warning while the cells have room', () => {
  const { atAlarm, wronged } = flood(scene({ seed: 'sixteen secret bytes' }, { limit: 100, window: '1h' }), 100, 2_000)
  expect(atAlarm).toBe(-1)
  expect(wronged).toBeLessThan(0.01)
})

test('each policy is reported with its own limit, once per slot', () => {
  const { allows, clock, events } = scene(
    { seed: 'sixteen secret bytes' },
    { name: 'small', limit: 20, window: '1h' },
    { name: 'large', limit: 60_000, window: '1h' },
  )
  for (let slot = 1; slot <= 3; slot++) {
    for (let key = 0; key < 30_000; key++) allows(`flood ${slot} ${key}`)
    expect(events.map(({ policy }) => policy)).toEqual(Array(slot).fill('small'))
    clock.advance(HOUR / 2)
  }
})

test('a closed observer receives no events, and counting continues unchanged', () => {
  const watched = scene({ seed: 'sixteen secret bytes' }, { limit: 20, window: '1h' })
  const alone = scene({ seed: 'sixteen secret bytes' }, { limit: 20, window: '1h' })
  alone.stop?.()
  for (let key = 0; key < 40_000; key++) {
    expect(watched.remaining(`flood ${key % 20_000}`)).toBe(alone.remaining(`flood ${key % 20_000}`))
  }
  expect([watched.events.length, alone.events.length]).toEqual([1, 0])
})
