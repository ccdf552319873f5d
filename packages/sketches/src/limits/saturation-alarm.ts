import type { WindowMemory } from './window-memory.ts'
import type { WindowRule } from './window-rule.ts'

/** What is told of a policy that noise is about to deny. */
export interface Saturation {
  readonly policy: string
  readonly limit: number
  /** Of the keys that have taken nothing, those for which noise is half of the limit, or will be soon. */
  readonly share: number
  /** Units that a key which has taken nothing is taken to have used, on average; the limit at most. */
  readonly noise: number
}

/** A policy under watch. */
interface Watched {
  readonly policy: string
  readonly rule: WindowRule
  /** Of the samples of one look: those above the bar, and the noise of all. */
  high: number
  noise: number
  /** When it was told of; NaN where it may be told again. */
  alarmedAt: number
  /** Counters with this policy. */
  counters: number
}

// between two looks noise may rise by this part of the half limit, and the bar is lower by as much
const LOOKS = 16
const LEAST_BETWEEN = 1_024
const LEAST_SAMPLES = 256
const MOST_SAMPLES = 8_192

/**
 * Asks now and then what would be answered of keys that nobody has seen. All of that is noise. Where it reaches half of
 * a limit, a client who uses the other half is denied: once half of the stated share of keys are there, the policy is
 * told of, once a slot, with a history once in half of its window. Costs nothing while nobody listens.
 */
export class SaturationAlarm {
  readonly #memory: WindowMemory
  readonly #rate: number
  readonly #samples: number
  readonly #watched = new Map<string, Watched>()
  // xorshift of two words (Marsaglia 2003)
  #x: number
  #y: number
  #units = 0
  #least = Number.POSITIVE_INFINITY
  #between = Number.POSITIVE_INFINITY

  /** `rate`: the share that must not be reached unheard. `seed`: two words. */
  constructor(memory: WindowMemory, rate: number, seed: Int32Array) {
    this.#memory = memory
    this.#rate = rate
    this.#samples = Math.min(MOST_SAMPLES, Math.max(LEAST_SAMPLES, Math.ceil(10 / rate)))
    this.#x = seed[0] | 1
    this.#y = seed[1]
  }

  watch(policy: string, rule: WindowRule): void {
    const name = nameOf(policy, rule)
    const known = this.#watched.get(name)
    if (known) known.counters++
    else this.#watched.set(name, { policy, rule, high: 0, noise: 0, alarmedAt: Number.NaN, counters: 1 })
    this.#aimAt(Math.min(this.#least, rule.limit))
  }

  /** A counter of this policy was closed. */
  unwatch(policy: string, rule: WindowRule): void {
    const watched = this.#watched.get(nameOf(policy, rule))
    if (!watched || --watched.counters > 0) return
    this.#watched.delete(nameOf(policy, rule))
    if (rule.limit > this.#least) return
    let least = Number.POSITIVE_INFINITY
    for (const { rule: left } of this.#watched.values()) least = Math.min(least, left.limit)
    this.#aimAt(least)
  }

  /** So many more units were counted. */
  add(units: number): void {
    this.#units += units
  }

  /** Whether it is time to look. */
  get due(): boolean {
    return this.#units >= this.#between
  }

  /** A new slot has begun: what was told long enough ago may be told again. */
  turned(now: number): void {
    for (const watched of this.#watched.values()) {
      if (!(Math.abs(now - watched.alarmedAt) < this.#memory.alarmAgainAfterMs(watched.rule)))
        watched.alarmedAt = Number.NaN
    }
    this.#units = Number.POSITIVE_INFINITY
  }

  /** Policies that are to be told of. Points the memory at other keys. */
  look(now: number): Saturation[] {
    this.#units = 0
    const quiet = [...this.#watched.values()].filter(({ alarmedAt }) => Number.isNaN(alarmedAt))
    if (quiet.length === 0) return []
    for (const watched of quiet) {
      watched.high = 0
      watched.noise = 0
    }
    for (let sample = 0; sample < this.#samples; sample++) this.#sample(quiet, now)
    return quiet.flatMap((watched) => {
      const share = watched.high / this.#samples
      if (share <= this.#rate / 2) return []
      watched.alarmedAt = now
      return { policy: watched.policy, limit: watched.rule.limit, share, noise: watched.noise / this.#samples }
    })
  }

  /** Looks so often that the policy with the smallest limit is not missed. */
  #aimAt(least: number): void {
    this.#least = least
    this.#between = Math.max(LEAST_BETWEEN, (this.#memory.width * least) / 2 / LOOKS)
  }

  #sample(quiet: readonly Watched[], now: number): void {
    const low = this.#random()
    this.#memory.aim(low, this.#random(), now)
    for (const watched of quiet) {
      const noise = watched.rule.used(this.#memory.spans, now)
      watched.noise += Math.min(noise, watched.rule.limit)
      if (noise >= (watched.rule.limit / 2) * (1 - 1 / LOOKS)) watched.high++
    }
  }

  #random(): number {
    const mixed = this.#x ^ (this.#x << 10)
    this.#x = this.#y
    this.#y = this.#y ^ (this.#y >>> 10) ^ mixed ^ (mixed >>> 13)
    return this.#y
  }
}

function nameOf(policy: string, { kind, limit, windowMs }: WindowRule): string {
  return `${policy}\0${kind}\0${limit}\0${windowMs}`
}
