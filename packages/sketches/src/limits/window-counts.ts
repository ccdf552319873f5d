import type { KeyedHash } from '@sluice/keyed-hash'
import type { PriorUsage, Step } from '@sluice/limiter-core'
import type { SlotSecret } from './slot-secret.ts'
import type { ForgivenKeys } from './window-forgiven.ts'
import type { WindowMemory } from './window-memory.ts'
import type { WindowRule } from './window-rule.ts'

/** Hears of each policy that is asked, and of the end of it. */
interface PolicyWatch {
  watch(policy: string, rule: WindowRule): void
  unwatch(policy: string, rule: WindowRule): void
}

/** How one step reads and writes what is counted. */
interface WindowLane {
  readonly count: string
  readonly rule: WindowRule
  /** Those of larger plans, into which a take must fit as well: all plans read the same units. */
  readonly larger: readonly WindowRule[]
  /** The hash of the count's name. */
  readonly low: number
  readonly high: number
}

/** One key of one policy at a time, read out of a `WindowMemory`: `aim`, then ask and change it. */
export class WindowCounts {
  readonly #memory: WindowMemory
  readonly #forgiven: ForgivenKeys
  readonly #keys: KeyedHash
  // names have a hash of their own: a key must not reach another count by being written like its name
  readonly #names: KeyedHash
  readonly #lanes = new WeakMap<Step, WindowLane>()
  readonly #watch: PolicyWatch
  /** Limiters that were built on it and not closed. */
  #holders = 0
  // most limiters have one policy: its lane without a look-up
  #lastStep: Step | undefined
  #lane: WindowLane | undefined
  // the key aimed at
  #low = 0
  #high = 0
  #now = 0
  #entry = -1

  constructor(memory: WindowMemory, forgiven: ForgivenKeys, secret: SlotSecret, watch: PolicyWatch) {
    this.#memory = memory
    this.#forgiven = forgiven
    this.#keys = secret.hashFor('keys')
    this.#names = secret.hashFor('names')
    this.#watch = watch
  }

  /** As `prepare`, for a limiter. Returns what it is to call when it does not ask any more. */
  hold(step: Step, count: string): () => void {
    this.prepare(step, count)
    this.#holders++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#drop(step)
      if (--this.#holders === 0) this.#memory.unbind()
    }
  }

  /** Throws `SLUICE_BAD_POLICY` where the policy is none that the memory can keep. */
  prepare(step: Step, count: string): WindowRule {
    return this.#laneOf(step, count).rule
  }

  /** Reads a key: everything else is about it until the next call. */
  aim(key: string, step: Step, count: string, now: number): void {
    this.#aimIn(this.#laneOf(step, count), key, now)
  }

  /** `aim` for a question: where nobody has prepared the policy, nobody has after it. */
  look(key: string, step: Step, count: string, now: number): void {
    const kept = this.#lanes.get(step)
    this.#lastStep = undefined
    this.#lane = kept?.count === count ? kept : this.#compile(step, count)
    this.#aimIn(this.#lane, key, this.#memory.asOf(now))
  }

  #aimIn(lane: WindowLane, key: string, now: number): void {
    const hash = this.#keys
    hash.text(key)
    this.#low = hash.low ^ lane.low
    this.#high = hash.high ^ lane.high
    this.#now = now
    this.#memory.aim(this.#low, this.#high, now)
    this.#entry = this.#forgiven.find(this.#low, this.#high, now, this.#memory.keptMs)
  }

  /** Whole ms until `cost` fits; 0 fits, Infinity never. */
  waitMs(cost: number): number {
    const { rule, larger } = this.#lane as WindowLane
    let longest = this.#waitMs(rule, cost)
    for (const one of larger) longest = Math.max(longest, this.#waitMs(one, cost))
    return longest
  }

  remaining(): number {
    const { rule, larger } = this.#lane as WindowLane
    let least = this.#remaining(rule)
    for (const one of larger) least = Math.min(least, this.#remaining(one))
    return least
  }

  resetAfterMs(): number {
    if (this.#entry >= 0 && this.#forgiven.unitsOf(this.#entry) === 0) return 0
    const { rule, larger } = this.#lane as WindowLane
    let longest = rule.resetAfterMs(this.#memory.spans, this.#now)
    for (const one of larger) longest = Math.max(longest, one.resetAfterMs(this.#memory.spans, this.#now))
    return longest
  }

  /** Whole ms until more than the `remaining` units fit; 0 where the key is full. */
  availableAfterMs(remaining: number): number {
    return remaining >= (this.#lane as WindowLane).rule.limit ? 0 : this.waitMs(remaining + 1)
  }

  spend(cost: number): void {
    this.#memory.add(cost, this.#now)
    if (this.#entry >= 0) this.#forgiven.move(this.#entry, cost)
  }

  /** Adds units to what was taken at `takenAt`, or takes them back; answers those that found their place. */
  adjust(units: number, takenAt: number): number {
    const { rule } = this.#lane as WindowLane
    if (this.#entry < 0) return this.#memory.adjust(units, takenAt, this.#now, rule)
    // what was forgiven needs no refund, and must not be taken from what came after
    if (units < 0 && takenAt < this.#forgiven.since(this.#entry)) return 0
    const most = units > 0 ? units : Math.max(units, -this.#forgiven.unitsOf(this.#entry))
    const moved = most === 0 ? 0 : this.#memory.adjust(most, takenAt, this.#now, rule)
    return moved === 0 ? 0 : this.#forgiven.move(this.#entry, moved)
  }

  /** Counts what a caller knows more of the key as taken now: when exactly it was taken nobody can say any more. */
  takeOver({ used, resetAfterMs }: PriorUsage): void {
    const more = Math.ceil(used) - ((this.#lane as WindowLane).rule.limit - this.remaining())
    // what is no number, or has no end, would stay
    const ends = resetAfterMs > 0 && resetAfterMs <= Number.MAX_SAFE_INTEGER
    if (ends && more > 0) this.spend(more)
  }

  /** Makes the key as good as new: what was taken before `at` is forgiven. */
  forgive(at: number): void {
    const { rule } = this.#lane as WindowLane
    if (this.#entry < 0 && rule.used(this.#memory.spans, this.#now) === 0) return
    this.#forgiven.forgive(this.#low, this.#high, at, this.#memory.keptMs)
  }

  #waitMs(rule: WindowRule, cost: number): number {
    if (this.#entry >= 0 && this.#forgiven.unitsOf(this.#entry) + cost <= rule.limit) return 0
    return rule.waitMs(this.#memory.spans, this.#now, cost)
  }

  #remaining(rule: WindowRule): number {
    const remaining = rule.remaining(this.#memory.spans, this.#now)
    return this.#entry < 0 ? remaining : Math.max(remaining, rule.limit - this.#forgiven.unitsOf(this.#entry))
  }

  #laneOf(step: Step, count: string): WindowLane {
    const last = this.#lane
    if (last !== undefined && this.#lastStep === step && last.count === count) return last
    let lane = this.#lanes.get(step)
    if (lane?.count !== count) lane = this.#newLane(step, count)
    this.#lane = lane
    this.#lastStep = step
    return lane
  }

  #newLane(step: Step, count: string): WindowLane {
    const memory = this.#memory
    // first, since larger plans have to be kept beside it
    memory.bind(memory.ruleOf(step.policy))
    const lane = this.#compile(step, count)
    for (const rule of lane.larger) memory.bind(rule)
    if (!this.#lanes.has(step)) this.#watch.watch(step.policy.name, lane.rule)
    this.#lanes.set(step, lane)
    return lane
  }

  /** Throws `SLUICE_BAD_POLICY`. */
  #compile(step: Step, count: string): WindowLane {
    const rule = this.#memory.ruleOf(step.policy)
    const names = this.#names
    names.text(count)
    const larger = (step.variants ?? []).filter(({ role }) => role === 'larger')
    const rules = larger.map((variant) => this.#memory.ruleOf(variant.step.policy))
    return { count, rule, larger: rules, low: names.low, high: names.high }
  }

  #drop(step: Step): void {
    const lane = this.#lanes.get(step)
    if (!lane) return
    this.#lanes.delete(step)
    this.#lastStep = undefined
    this.#watch.unwatch(step.policy.name, lane.rule)
  }
}
