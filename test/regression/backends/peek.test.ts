import { describe, expect, test } from '@jest/globals'
import { type LeaseRequest, MemoryLedger } from '@sluice/fleet/leases'
import { type Answer, type Backend, createLimiter, memoryBackend, type Policy } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, openedCounter, type SeededRandom } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { KIB, scene } from '../../floods/scene.ts'
import { chargeOf, MINUTE, plain, policyOf } from '../../sketches/backend/charges.ts'

const YEAR = 365 * 24 * 60 * MINUTE
const history = { unit: '1s', keep: '10m' } as const

/** Offsets in milliseconds to other times: slots away, windows away, and beyond any retention. */
function away(random: SeededRandom): number {
  const ms = random.pick([1, 1_000, 5_999, 6_000, MINUTE / 2, MINUTE, MINUTE + 1, 3 * MINUTE, YEAR, 200_000 * YEAR])
  return random.pick([ms, -ms]) + random.whole(3)
}

// regression: a peek at a future time erased the counts of all keys
const fixed: Partial<Policy> = { algorithm: 'fixed-window' }
describe.each<[string, SketchBackendOptions, readonly Partial<Policy>[]]>([
  ['ten slots', { slots: 10 }, [{}, { slices: 10 }, fixed]],
  ['one slot of 16 bits', { slots: 1, cells: 16 }, [{}, fixed]],
  ['conservative cells', { slots: 4, conservative: true }, [{}, { slices: 4 }, fixed]],
  [
    'a history',
    { history },
    [1_000, 7_000, MINUTE, 10 * MINUTE].flatMap((windowMs) => [{ windowMs }, { windowMs, slices: 2 }]),
  ],
])('a sketchBackend with %s', (_name, options, shapes) => {
  const policies = shapes.map((shape, index) => policyOf({ name: `${index}`, limit: 9, ...shape }))

  test('gives the same answers whether or not peeks at other times happen, and a peek answers like a take at that time', () =>
    eachSeed(40, (random) => {
      const clock = new FakeClock({ nowMs: random.pick([0, 1_234.5, YEAR]) })
      const [asked, twin] = [1, 2].map(() =>
        sketchBackend({ bytes: 2 ** 20, seed: 'sixteen secret bytes', clock, ...options }),
      )
      /** Random charges with one key for each policy, identical for both backends. */
      const randomCharges = (cost: number) => {
        const keys = policies.map(() => `key ${random.whole(3)}`)
        return (backend: Backend) => policies.map((policy, index) => chargeOf(backend, policy, keys[index], cost))
      }
      for (let deed = 0; deed < 60; deed++) {
        clock.advance(random.pick([0, 1, 100, 1_000, 6_000, 20_000, random.whole(3 * MINUTE)]))
        for (let peeks = random.whole(4); peeks > 0; peeks--) {
          asked.peekAll(randomCharges(random.whole(4))(asked), { now: clock.now() + away(random) })
        }
        const taken = randomCharges(1 + random.whole(3))
        expect(plain(asked.takeAll(taken(asked)).verdicts)).toEqual(plain(twin.takeAll(taken(twin)).verdicts))
      }
      const later = { now: clock.now() + away(random) }
      const nothing = randomCharges(0)
      expect(plain(asked.peekAll(nothing(asked), later).verdicts)).toEqual(
        plain(twin.takeAll(nothing(twin), later).verdicts),
      )
    }))
})

test('a peek of a sketchBackend does not fix its window', () => {
  const backend = sketchBackend({ clock: new FakeClock() })
  const minute = chargeOf(backend, policyOf({ windowMs: MINUTE }), 'key')
  backend.peekAll([minute])
  minute.counter.close?.()
  const hour = chargeOf(backend, policyOf({ windowMs: 60 * MINUTE }), 'key')
  expect(backend.takeAll([hour]).verdicts[0].allowed).toBe(true)
})

// regression: the tail of evicted keys started its clock at the time of the peek, so nothing in it ever expired
test('a flood expires on time even if a peek at the far future came first', () => {
  const { clock, limiter } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], 64 * KIB)
  limiter.peek('anybody', 1, { now: clock.now() + 3 * YEAR })
  for (let key = 0; key < 6_000; key++) limiter.take(`flood ${key}`, 10)
  clock.advance(2 * 60 * MINUTE)
  let denied = 0
  for (let key = 0; key < 100; key++) if (!limiter.take(`newcomer ${key}`, 5).allowed) denied++
  expect(denied).toBe(0)
})

// regression: a peek stored the usage that the key would have in the future, so the key was evicted early
test('a denied key stays denied through a flood even if a peek at its future came first', () => {
  const { limiter } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], 64 * KIB)
  limiter.take('attacker', 10)
  limiter.peek('attacker', 1, { now: 2 * 60 * MINUTE })
  for (let key = 0; key < 5_000; key++) limiter.take(`flood-${key}`)
  expect(limiter.take('attacker').allowed).toBe(false)
})

// regression: the lease was charged in full as if it had ended, and later charged again for what was spent
test('a lease continues after a peek at a time after its end', () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const terms = { fraction: 0.1, leaseMs: 2_000 }
  const ledger = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const policy = policyOf({ algorithm: 'fixed-window', limit: 100 })
  const counted = { key: 'a', counter: openedCounter(ledger, 'ledger', policy) }
  const ask = (seq: number, parts: Partial<LeaseRequest>) =>
    ledger.request([
      { ...counted, owner: 1, seq, base: 0, spent: 0, keep: 0, want: 0, demand: 0, minimum: 1, need: 0, ...parts },
    ])
  ask(1, { want: 10, demand: 10 })
  const remaining = (afterMs: number) =>
    ledger.peekAll([{ ...counted, cost: 1 }], { now: clock.now() + afterMs }).verdicts[0].remaining
  // the lease: active, ended, and after the window
  expect([0, 10_000, 3 * MINUTE].map(remaining)).toEqual([90, 90, 100])
  ask(2, { spent: 3 })
  expect(remaining(0)).toBe(97)
})

// regression: an answer about another time was taken as the current state and as a clock difference
test('an answer about another time is not used as the usage of a key when the backend fails', () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  let fails = false
  const front = frontBackend('custom', memoryBackend({ clock }), (ask) => {
    if (fails) throw new Error('away')
    return ask()
  })
  const backend: Backend<Answer> = { ...front, synchronous: true }
  const limiter = createLimiter({ policies: [{ limit: 5, window: '1m' }], backend, clock })
  limiter.take('key', 5)
  for (const now of [-YEAR, YEAR]) limiter.peek('key', 1, { now })
  fails = true
  const { allowed, source, retryAfterMs } = limiter.take('key')
  expect({ allowed, source, retryAfterMs }).toEqual({ allowed: false, source: 'local', retryAfterMs: MINUTE })
})
