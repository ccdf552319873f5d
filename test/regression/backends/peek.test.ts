import { describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, createLimiter, memoryBackend, type Policy } from '@sluice/limiter-core'
import { type LeaseAsk, MemoryLedger } from '@sluice/limiter-core/leases'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { eachSeed, FakeClock, openedCounter, type SeededRandom } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { KIB, scene } from '../../floods/scene.ts'
import { chargeOf, MINUTE, plain, policyOf } from '../../sketches/backend/charges.ts'

const YEAR = 365 * 24 * 60 * MINUTE
const history = { unit: '1s', keep: '10m' } as const

/** Ms from now to some other time: slots and windows away, and further than anything is kept. */
function away(random: SeededRandom): number {
  const ms = random.pick([1, 1_000, 5_999, 6_000, MINUTE / 2, MINUTE, MINUTE + 1, 3 * MINUTE, YEAR, 200_000 * YEAR])
  return random.pick([ms, -ms]) + random.whole(3)
}

// counts of all keys were erased, since the time of all stood where the question was
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
])('a sketchBackend of %s', (_name, options, shapes) => {
  const policies = shapes.map((shape, index) => policyOf({ name: `${index}`, limit: 9, ...shape }))

  test('answers as one that nobody asked about another time, and what a take would answer then', () =>
    eachSeed(40, (random) => {
      const clock = new FakeClock({ nowMs: random.pick([0, 1_234.5, YEAR]) })
      const [asked, twin] = [1, 2].map(() =>
        sketchBackend({ bytes: 2 ** 20, seed: 'sixteen secret bytes', clock, ...options }),
      )
      /** One key of each policy, by random: the same ones of either backend. */
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

test('a peek of a sketchBackend says nothing of which windows it has', () => {
  const backend = sketchBackend({ clock: new FakeClock() })
  const minute = chargeOf(backend, policyOf({ windowMs: MINUTE }), 'key')
  backend.peekAll([minute])
  minute.counter.close?.()
  const hour = chargeOf(backend, policyOf({ windowMs: 60 * MINUTE }), 'key')
  expect(backend.takeAll([hour]).verdicts[0].allowed).toBe(true)
})

// the tail of what was evicted began its time there, so that nothing in it ever ended
test('a flood is forgotten in time though somebody first asked about the far future', () => {
  const { clock, limiter } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], 64 * KIB)
  limiter.peek('anybody', 1, { now: clock.now() + 3 * YEAR })
  for (let key = 0; key < 6_000; key++) limiter.take(`flood ${key}`, 10)
  clock.advance(2 * 60 * MINUTE)
  let denied = 0
  for (let key = 0; key < 100; key++) if (!limiter.take(`newcomer ${key}`, 5).allowed) denied++
  expect(denied).toBe(0)
})

// the key's used part was written as it would be then, and the key was up for eviction
test('a denied key stays denied through a flood though someone peeked at its future', () => {
  const { limiter } = scene([{ algorithm: 'fixed-window', limit: 10, window: '1h' }], 64 * KIB)
  limiter.take('attacker', 10)
  limiter.peek('attacker', 1, { now: 2 * 60 * MINUTE })
  for (let key = 0; key < 5_000; key++) limiter.take(`flood-${key}`)
  expect(limiter.take('attacker').allowed).toBe(false)
})

// the lease was charged whole, as if it had ended, and then what was spent of it once more
test('a lease goes on though somebody asked about a time after its end', () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const terms = { fraction: 0.1, leaseMs: 2_000 }
  const ledger = new MemoryLedger('ledger', memoryBackend({ clock }), terms, () => clock.now())
  const policy = policyOf({ algorithm: 'fixed-window', limit: 100 })
  const counted = { key: 'a', counter: openedCounter(ledger, 'ledger', policy) }
  const ask = (seq: number, parts: Partial<LeaseAsk>) =>
    ledger.ask([
      { ...counted, owner: 1, seq, base: 0, spent: 0, keep: 0, want: 0, demand: 0, minimum: 1, need: 0, ...parts },
    ])
  ask(1, { want: 10, demand: 10 })
  const remaining = (afterMs: number) =>
    ledger.peekAll([{ ...counted, cost: 1 }], { now: clock.now() + afterMs }).verdicts[0].remaining
  // on lease now, charged soon, forgotten after the window
  expect([0, 10_000, 3 * MINUTE].map(remaining)).toEqual([90, 90, 100])
  ask(2, { spent: 3 })
  expect(remaining(0)).toBe(97)
})

// what a backend said of another time was taken for what it says now, and its clock for one that runs otherwise
test('what a backend answers of another time is not what is known of a key when it fails', () => {
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
