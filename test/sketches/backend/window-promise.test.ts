import { afterAll, describe, expect, test } from '@jest/globals'
import type { Policy } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { baseSeed, FakeClock, type SeededRandom, seededRandom } from '@sluice/testkit'
import { chargeOf } from './charges.ts'

const WINDOW_MS = 1_000
const LIMIT = 100
const CLIMBS = 4
const TRIES = 25

/** A stretch of an attack that repeatedly takes a share of the remaining units. */
interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  readonly everyMs: number
  readonly share: number
}

type Shape = Partial<Policy>
const sliding: Shape = { algorithm: 'sliding-window' }
const history: SketchBackendOptions = { history: { unit: '100ms', keep: '2s' }, bytes: 2 ** 20 }

// the promised maximum, and the units that a known attack gets, both in limits
const promises: readonly (readonly [string, SketchBackendOptions, Shape, number, number])[] = [
  ['one slice, 2 slots', {}, sliding, 2, 1.9],
  ['one slice, 1 slot', { slots: 1 }, sliding, 2, 1.9],
  ['one slice, 10 slots', { slots: 10 }, sliding, 2, 1.7],
  ['2 slices', {}, { ...sliding, slices: 2 }, 1, 1],
  ['10 slices', { slots: 10 }, { ...sliding, slices: 10 }, 1, 1],
  ['fixed-window', {}, { algorithm: 'fixed-window' }, 2, 1.9],
  ['one slice, with a history', history, sliding, 2, 1.5],
  ['2 slices, with a history', history, { ...sliding, slices: 2 }, 1, 1],
]
const measured: string[] = []

describe('the most that an attacker gets in any window', () => {
  test.each(promises)('is within the promise for %s', (name, options, shape, promised, known) => {
    const policy: Policy = { name: 'p', algorithm: 'sliding-window', limit: LIMIT, windowMs: WINDOW_MS, ...shape }
    const worst = worstAttack((attack) => worstWindow(options, policy, attack), seededRandom(baseSeed()))
    measured.push(`sketchBackend, ${name}: worst window found ${worst.toFixed(3)} limits, promised at most ${promised}`)
    // the attack must at least find the known worst case
    expect(worst).toBeGreaterThanOrEqual(known)
    expect(worst).toBeLessThanOrEqual(promised)
  })
})

afterAll(() => {
  process.stdout.write(`${measured.join('\n')}\n`)
})

/** The most units that an attack gets in any half-open window, divided by the limit. */
function worstWindow(options: SketchBackendOptions, policy: Policy, attack: readonly Stretch[]): number {
  const clock = new FakeClock()
  const backend = sketchBackend({ bytes: 65_536, ...options, clock, seed: 'sixteen secret bytes' })
  const times: number[] = []
  const sums = [0]
  let [worst, oldest] = [0, 0]
  for (const { fromMs, toMs, everyMs, share } of attack) {
    for (let now = Math.max(clock.now(), fromMs); now <= toMs; now += everyMs) {
      clock.advance(now - clock.now())
      const [{ remaining }] = backend.peekAll([chargeOf(backend, policy, 'attacker')]).verdicts
      if (remaining === 0) continue
      const units = Math.max(1, Math.floor(remaining * share))
      expect(backend.takeAll([chargeOf(backend, policy, 'attacker', units)]).verdicts[0].allowed).toBe(true)
      times.push(now)
      sums.push(sums[sums.length - 1] + units)
      while (times[oldest] <= now - WINDOW_MS) oldest++
      worst = Math.max(worst, sums[sums.length - 1] - sums[oldest])
    }
  }
  return worst / LIMIT
}

function worstAttack(judge: (attack: readonly Stretch[]) => number, random: SeededRandom): number {
  let worst = 0
  for (let climb = 0; climb < CLIMBS; climb++) {
    let attack = openings[climb] ?? [stretch(random), stretch(random), stretch(random)]
    let reached = judge(attack)
    for (let tried = 0; tried < TRIES; tried++) {
      const other = attack.map((one) => (random.whole(2) === 0 ? one : stretch(random)))
      other.sort((a, b) => a.fromMs - b.fromMs)
      const reachedByOther = judge(other)
      if (reachedByOther < reached) continue
      attack = other
      reached = reachedByOther
    }
    worst = Math.max(worst, reached)
  }
  return worst
}

// one unit to start the slots; a burst just before a boundary of slots or of windows; then every unit that becomes
// available
const openings: readonly (readonly Stretch[])[] = [499, 999].map((burstMs) => [
  { fromMs: 0, toMs: 0, everyMs: 1, share: 0 },
  { fromMs: burstMs, toMs: burstMs, everyMs: 1, share: 1 },
  { fromMs: burstMs + 1, toMs: burstMs + WINDOW_MS, everyMs: 3, share: 1 },
])

function stretch(random: SeededRandom): Stretch {
  const fromMs = random.whole(2 * WINDOW_MS)
  const toMs = fromMs + random.pick([0, 1, random.whole(WINDOW_MS)])
  return { fromMs, toMs, everyMs: random.pick([1, 7, 50]), share: random.pick([0, 0.5, 1, 1]) }
}
