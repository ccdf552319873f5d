import type { CompiledPolicy } from '@sluice/limiter-core'
import { PolicyDriver, type SeededRandom } from '@sluice/testkit'

/** A phase of an attack: repeatedly takes a share of the remaining units. */
interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  readonly everyMs: number
  /** Share of the remaining units to take: 1 takes all of them, 0 takes one unit. */
  readonly share: number
}

export type Attack = readonly Stretch[]

/** The most units that an attack gets in any half-open window, divided by the limit. */
export function worstWindow(compiled: CompiledPolicy, attack: Attack): number {
  const { windowMs, limit } = compiled.policy
  const key = new PolicyDriver(compiled)
  const times: number[] = []
  const sums = [0]
  let worst = 0
  let oldest = 0
  let now = 0
  for (const { fromMs, toMs, everyMs, share } of attack) {
    for (now = Math.max(now, fromMs); now <= toMs; now += everyMs) {
      const free = compiled.remaining(key.cells, key.at, now)
      if (free === 0) continue
      const units = Math.max(1, Math.floor(free * share))
      compiled.spend(key.cells, key.at, now, units)
      times.push(now)
      sums.push(sums[sums.length - 1] + units)
      while (times[oldest] <= now - windowMs) oldest++
      worst = Math.max(worst, sums[sums.length - 1] - sums[oldest])
    }
  }
  return worst / limit
}

/** Known attacks on individual algorithms, from which the search starts. */
function openings(windowMs: number): Attack[] {
  const whole = { everyMs: 1, share: 1 }
  return [
    [{ fromMs: 0, toMs: 2.5 * windowMs, everyMs: 1, share: 1 }],
    [
      { fromMs: 0, toMs: 0, everyMs: 1, share: 0 },
      { fromMs: windowMs - 1, toMs: windowMs - 1, ...whole },
      { fromMs: windowMs, toMs: windowMs, ...whole },
    ],
    [
      { fromMs: 0, toMs: 0, everyMs: 1, share: 0 },
      { fromMs: windowMs - 1, toMs: 2 * windowMs, ...whole },
    ],
  ]
}

/** Searches by hill climbing, from the known attacks and from random ones, for the worst attack. */
export function worstAttack(compiled: CompiledPolicy, random: SeededRandom, climbs: number, tries: number): number {
  const { windowMs } = compiled.policy
  const starts = openings(windowMs)
  let worst = 0
  for (let climb = 0; climb < climbs; climb++) {
    let attack = starts[climb] ?? randomAttack(random, windowMs)
    let reached = worstWindow(compiled, attack)
    for (let tried = 0; tried < tries; tried++) {
      const other = changed(attack, random, windowMs)
      const reachedByOther = worstWindow(compiled, other)
      if (reachedByOther < reached) continue
      attack = other
      reached = reachedByOther
    }
    worst = Math.max(worst, reached)
  }
  return worst
}

function randomAttack(random: SeededRandom, windowMs: number): Attack {
  return inOrder(Array.from({ length: 1 + random.whole(5) }, () => randomStretch(random, windowMs)))
}

function randomStretch(random: SeededRandom, windowMs: number): Stretch {
  const fromMs = random.whole(3 * windowMs)
  const lengthMs = random.pick([0, 1, random.whole(windowMs), windowMs])
  const everyMs = random.pick([0.5, 1, 1, 2, 1 + random.whole(windowMs / 4)])
  return { fromMs, toMs: fromMs + lengthMs, everyMs, share: random.pick([0, 0.5, 1, 1, random.next()]) }
}

function changed(attack: Attack, random: SeededRandom, windowMs: number): Attack {
  const stretches = [...attack]
  const at = random.whole(stretches.length)
  const shiftMs = random.pick([-1, 1, -0.5, 0.5, random.whole(windowMs) - windowMs / 2])
  const one = stretches[at]
  const change = random.whole(5)
  if (change === 0) stretches.push(randomStretch(random, windowMs))
  else if (change === 1 && stretches.length > 1) stretches.splice(at, 1)
  else if (change === 2) stretches[at] = { ...one, fromMs: Math.max(0, one.fromMs + shiftMs) }
  else if (change === 3) stretches[at] = { ...one, toMs: Math.max(one.fromMs, one.toMs + shiftMs) }
  else stretches[at] = { ...one, share: random.pick([0, 1, random.next()]) }
  return inOrder(stretches.slice(0, 8))
}

function inOrder(stretches: Stretch[]): Attack {
  return stretches.sort((a, b) => a.fromMs - b.fromMs)
}
