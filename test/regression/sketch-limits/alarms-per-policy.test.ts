import { describe, expect, test } from '@jest/globals'
import { createInflightLimiter, createLimiter } from '@sluice/limiter-core'
import { sketchBackend, sketchInflight } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

type Told = readonly [atMs: number, data: Readonly<Record<string, unknown>>]

/** Records the reported `saturated` events. */
function ear(clock: FakeClock) {
  const told: Told[] = []
  const event = (name: string, data: Readonly<Record<string, unknown>>): void => {
    if (name === 'saturated') told.push([clock.now(), data])
  }
  return { told, observer: { event } }
}

// regression: the policy of an hour was reported at each turn of the policy of a second
test('with a history each policy is reported once per half of its own window', () => {
  const clock = new FakeClock()
  const history = { unit: '1s', keep: '1h' } as const
  const backend = sketchBackend({ bytes: 2 ** 18, history, clock, seed: 'sixteen secret bytes' })
  const second = { name: 'second', limit: 20, window: '1s' } as const
  const hour = { name: 'hour', limit: 20, window: '1h' } as const
  const limiter = createLimiter({ policies: [second, hour], backend, clock })
  const { told, observer } = ear(clock)
  backend.observe?.(observer)
  for (let flood = 0; flood < 60_000; flood++) {
    limiter.take(`flood ${flood}`)
    if (flood % 50 === 0) clock.advance(1_000)
  }
  const ofHour = told.filter(([, { policy }]) => policy === 'hour')
  expect(ofHour[0][1]).toEqual({
    backend: 'sketch',
    policy: 'hour',
    limit: 20,
    share: expect.any(Number),
    noise: expect.any(Number),
    bytes: 2 ** 18,
  })
  expect(ofHour).toHaveLength(1)
  clock.advance(1_800_000)
  for (let flood = 0; flood < 20_000; flood++) limiter.take(`another flood ${flood}`)
  expect(told.filter(([, { policy }]) => policy === 'hour')).toHaveLength(2)
})

describe('sketchInflight', () => {
  // regression: one check a second was shared by all caps, and a cap with a flood of denials used it each time
  test('reports a cap while another one denies a flood', () => {
    const clock = new FakeClock()
    const { told, observer } = ear(clock)
    const backend = sketchInflight({ slots: 64, seed: 'sixteen secret bytes', clock, observers: [observer] })
    const large = createInflightLimiter({ name: 'large', limit: 1_000, backend })
    const small = createInflightLimiter({ name: 'small', limit: 2, backend })
    large.acquire('loud', { weight: 1_000 })
    for (let key = 0; key < 256; key++) small.acquire(`key ${key}`)
    for (let tick = 0; tick < 20; tick++) {
      clock.advance(500)
      large.acquire('loud', { weight: 1_000 })
      small.acquire('who comes last')
    }
    expect(
      told.every(([, { backend: name, cap, limit }]) => `${name} ${cap} ${limit}` === 'sketch-inflight small 2'),
    ).toBe(true)
    expect(told.map(([at]) => at)).toEqual(Array.from({ length: 11 }, (_, look) => 1_000 * look))
  })

  // regression: after one invalid reading it checked and reported at each denial
  test('checks once a second with a clock that once returned an invalid reading or stepped back', () => {
    let now = 5_000_000
    const told: unknown[] = []
    const event = (_name: string, data: unknown): void => void told.push(data)
    const clock = { now: () => now, wall: () => 0, after: () => () => {} }
    const backend = sketchInflight({ slots: 4, clock, observers: [{ event }] })
    const cap = createInflightLimiter({ limit: 2, backend })
    for (let key = 0; key < 100; key++) cap.acquire(`key ${key}`)
    const heard = (reading: number): number => {
      now = reading
      const before = told.length
      for (let denial = 0; denial < 5; denial++) cap.acquire('one more')
      return told.length - before
    }
    expect([5_001_000, Number.NaN, 5_001_001, 1_000, 1_999, 2_000].map(heard)).toEqual([1, 0, 0, 1, 0, 1])
  })
})
