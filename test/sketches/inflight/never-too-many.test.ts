import { expect, test } from '@jest/globals'
import type { Cap, InflightBackend, Permit } from '@sluice/limiter-core'
import { type SketchInflightOptions, sketchInflight } from '@sluice/sketches/limits'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

interface Held {
  readonly cap: Cap
  readonly key: string
  readonly weight: number
  readonly permit: Permit
}

const caps: readonly Cap[] = [
  { name: 'report', limit: 6 },
  { name: 'report', place: 'admin', limit: 3 },
  { name: 'login', limit: 40 },
]
const keys = Array.from({ length: 40 }, (_, n) => `key ${n}`)

const forms: [string, SketchInflightOptions][] = [
  ['the sketch alone', {}],
  ['two stages by share', { trigger: 0.5 }],
  ['two stages by count', { trigger: 2 }],
  ['two stages, from the last permit but one on', { trigger: 1 }],
]

test.each(forms)('no key holds more than its limit, though all of them collide: %s', (_, form) =>
  eachSeed(15, (random, seed) => {
    const shape = { rows: 1 + random.whole(4), slots: 2 + random.whole(30) }
    const backend = sketchInflight({ ...shape, seed: `the seed of run ${seed} of a test`, ...form })
    const held: Held[] = []
    let given = 0
    for (let done = 0; done < 400; done++) {
      if (random.whole(5) < 2 && held.length > 0) releaseOne(held, random)
      else given += acquireOne(backend, held, random)
      const cap = random.pick(caps)
      const key = random.pick(keys)
      expect(backend.count?.(key, cap)).toBeGreaterThanOrEqual(heldBy(held, cap, key))
    }
    expect(given).toBeGreaterThan(0)
    while (held.length > 0) releaseOne(held, random)
    for (const cap of caps) for (const key of keys) expect(backend.count?.(key, cap)).toBe(0)
    // all cells are empty: each key can use its full limit
    for (const cap of caps) {
      for (const key of keys) {
        expect(acquire(backend, held, { cap, key, weight: cap.limit })).toBe(true)
        releaseOne(held, random)
      }
    }
  }),
)

test.each(forms)('a key that shares no cell gets its full limit: %s', (_, form) =>
  eachSeed(10, (random, seed) => {
    const backend = sketchInflight({ ...form, seed: `the seed of run ${seed} of a test` })
    const held: Held[] = []
    for (let done = 0; done < 300; done++) {
      if (random.whole(2) === 0 && held.length > 0) {
        releaseOne(held, random)
        continue
      }
      const cap = random.pick(caps)
      const key = random.pick(keys.slice(0, 5))
      const weight = 1 + random.whole(3)
      const before = heldBy(held, cap, key)
      const gave = acquire(backend, held, { cap, key, weight })
      expect(gave).toBe(before + weight <= cap.limit)
      expect(backend.count?.(key, cap)).toBe(heldBy(held, cap, key))
    }
  }),
)

function acquireOne(backend: InflightBackend, held: Held[], random: SeededRandom): number {
  const cap = random.pick(caps)
  const key = random.pick(keys)
  const weight = 1 + random.whole(3)
  const before = heldBy(held, cap, key)
  if (!acquire(backend, held, { cap, key, weight })) return 0
  expect(before + weight).toBeLessThanOrEqual(cap.limit)
  return 1
}

function acquire(backend: InflightBackend, held: Held[], request: Omit<Held, 'permit'>): boolean {
  const answer = backend.acquire(request.key, request) as Permit
  if (!('release' in answer)) return false
  held.push({ ...request, permit: answer })
  return true
}

function releaseOne(held: Held[], random: SeededRandom): void {
  const [{ permit }] = held.splice(random.whole(held.length), 1)
  permit.release()
  if (random.whole(3) === 0) permit.release('dropped')
}

function heldBy(held: readonly Held[], cap: Cap, key: string): number {
  return held.reduce((sum, one) => sum + (one.cap === cap && one.key === key ? one.weight : 0), 0)
}
