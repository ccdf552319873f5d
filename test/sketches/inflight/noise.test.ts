import { expect, test } from '@jest/globals'
import type { Cap, InflightBackend, Permit } from '@sluice/limiter-core'
import { Inflight } from '@sluice/sketches'
import { type SketchInflightOptions, sketchInflight } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

const SLOTS = 8192
const FRESH = 10_000
const seed = 'the seed of this test'

// n keys hold one permit each; the documented chance and mean of the noise for a key without permits
test.each([
  [1_000, 0.0002, 0.0002],
  [8_192, 0.1597, 0.1646],
  [10_000, 0.247, 0.2614],
  [100_000, 1, 8.7227],
])('the noise of %i other keys matches the documented formula', (n, chance, mean) => {
  const inflight = new Inflight({ seed })
  for (let key = 0; key < n; key++) inflight.incr(`key ${key}`)
  let sum = 0
  let sees = 0
  for (let key = 0; key < FRESH; key++) {
    const seen = inflight.get(`fresh ${key}`)
    sum += seen
    if (seen > 0) sees++
  }
  expect((1 - Math.exp(-n / SLOTS)) ** 4).toBeCloseTo(chance, 3)
  expect(Math.abs(sees / FRESH - chance)).toBeLessThan(0.02)
  expect(Math.abs(sum / FRESH - mean)).toBeLessThan(0.03 + mean / 50)
})

/** The share of their limit that keys without permits cannot use, while n other keys hold one permit each. */
function missing(options: SketchInflightOptions, limit: number, n: number): number {
  const cap = { name: 'report', limit }
  const backend = sketchInflight({ seed, ...options })
  for (let key = 0; key < n; key++) backend.acquire(`key ${key}`, { cap })
  let got = 0
  for (let key = 0; key < 300; key++) got += placesGot(backend, `fresh ${key}`, cap)
  return 1 - got / (300 * limit)
}

function placesGot(backend: InflightBackend, key: string, cap: Cap): number {
  const permits = Array.from({ length: cap.limit }, () => backend.acquire(key, { cap })).filter(
    (answer): answer is Permit => 'release' in answer,
  )
  for (const permit of permits) permit.release()
  return permits.length
}

test('a low trigger keeps permits out of the cells that do not fit there', () => {
  expect(missing({}, 10, 100_000)).toBeGreaterThan(0.7)
  expect(missing({ trigger: 0.5 }, 10, 100_000)).toBeLessThan(0.6)
  expect(missing({ trigger: 1 }, 10, 100_000)).toBeLessThan(0.15)
})

test('with room for eight times the calls in flight, almost no permits are missing', () => {
  expect(missing({ slots: 2 ** 17 }, 10, 16_384)).toBeLessThan(0.0005)
  expect(missing({}, 10, 1_024)).toBeLessThan(0.0005)
})

test('observers are notified once other keys hold half of a limit in the cells of one key in a hundred', () => {
  const clock = new FakeClock()
  const events: [string, Readonly<Record<string, unknown>>][] = []
  const observers = [
    { event: (name: string, data: Readonly<Record<string, unknown>>) => void events.push([name, data]) },
  ]
  const cap: Cap = { name: 'report', limit: 4 }
  const backend = sketchInflight({ seed, clock, observers })
  const fill = (from: number, to: number): void => {
    for (let key = from; key < to; key++) backend.acquire(`key ${key}`, { cap })
  }
  const deny = (): void => {
    expect(backend.acquire('key 0', { cap, weight: 4 })).toHaveProperty('allowed', false)
  }
  // 4,000 permits: other keys hold 2 in about one key of 18,000
  fill(0, 4_000)
  deny()
  expect(events).toEqual([])
  fill(4_000, 16_384)
  clock.advance(999)
  deny()
  expect(events).toEqual([])
  clock.advance(1)
  deny()
  deny()
  expect(events).toEqual([
    ['saturated', { backend: 'sketch-inflight', cap: 'report', limit: 4, share: expect.any(Number) }],
  ])
  // (1 - 3 e⁻²)⁴
  expect(Math.abs((events[0][1].share as number) - 0.1245)).toBeLessThan(0.02)
})
