import type { WindowMemory } from './window-memory.ts'
import type { WindowRule } from './window-rule.ts'

/** An alarm: noise is about to deny requests of a policy. */
export interface Saturation {
  readonly policy: string
  readonly limit: number
  /** Fraction of unused keys for which noise is half of the limit, or will be soon. */
  readonly share: number
  /** Units that a key which has taken nothing is taken to have used, on average; the limit at most. */
  readonly noise: number
}

/** A policy under watch. */
interface Watched {
  readonly policy: string
  readonly rule: WindowRule
  /** For the samples of one check: those above the threshold, and the total noise. */
  high: number
  noise: number
  /** Time of the last alarm; NaN if another one is allowed. */
  alarmedAt: number
  /** Counters with this policy. */
  counters: number
}

// between two looks noise may rise by this part of the half limit, and the bar is lower by as much
const LOOKS = 16
const MIN_BETWEEN = 1_024
const MIN_SAMPLES = 256
const MAX_SAMPLES = 8_192

/**
 * Samples keys that were never counted, whose estimates are pure noise. If the noise reaches half of a limit, a
 * client that uses the other half is denied. An alarm is raised when half of `falseDenialRate` of the keys are
 * affected, at most once per slot, or with a history once per half window. Costs nothing without observers.
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
    this.#samples = Math.min(MAX_SAMPLES, Math.max(MIN_SAMPLES, Math.ceil(10 / rate)))
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

  /** Adds counted units. */
  add(units: number): void {
    this.#units += units
  }

  /** Whether it is time to look. */
  get due(): boolean {
    return this.#units >= this.#between
  }

  /** Called at the start of a slot: allows alarms that are old enough to be repeated. */
  turned(now: number): void {
    for (const watched of this.#watched.values()) {
      if (!(Math.abs(now - watched.alarmedAt) < this.#memory.alarmAgainAfterMs(watched.rule)))
        watched.alarmedAt = Number.NaN
    }
    this.#units = Number.POSITIVE_INFINITY
  }

  /** Returns the policies with an alarm. Aims the memory at other keys. */
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
    this.#between = Math.max(MIN_BETWEEN, (this.#memory.width * least) / 2 / LOOKS)
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
