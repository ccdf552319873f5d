import type { CompiledPolicy, PriorUsage } from '@sluice/limiter-core'
import type { KeyedHash } from '@sluice/limiter-core/keyed-hash'
import type { SlotSecret } from './slot-secret.ts'
import type { ForgivenKeys } from './window-forgiven.ts'
import type { WindowMemory } from './window-memory.ts'
import type { WindowRule } from './window-rule.ts'

/** Receives each policy that is read, and its end. */
interface PolicyWatch {
  watch(policy: string, rule: WindowRule): void
  unwatch(policy: string, rule: WindowRule): void
}

/** How one counter reads and writes its counts. */
export interface CounterWindow {
  readonly policy: string
  readonly rule: WindowRule
  /** Rules of larger plans, which a take must fit too: all plans read the same units. */
  readonly larger: readonly WindowRule[]
  /** The hash of the counter's name. */
  readonly low: number
  readonly high: number
  /** False after it was closed, until it is used again. */
  isBound: boolean
}

/** Reads and changes one key of one policy at a time in a `WindowMemory`: call `aim` first. */
export class WindowCounts {
  readonly #memory: WindowMemory
  readonly #forgiven: ForgivenKeys
  readonly #keys: KeyedHash
  // names have a hash of their own: a key must not reach another count by being written like its name
  readonly #names: KeyedHash
  readonly #watch: PolicyWatch
  /** Counters that are open. */
  #bound = 0
  #window: CounterWindow | undefined
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

  /** Throws `SLUICE_BAD_POLICY` if the memory cannot count the policy. */
  open(compiled: CompiledPolicy, name: string): CounterWindow {
    const { policy, variants = [] } = compiled
    const rule = this.#memory.ruleOf(policy)
    // first, because larger plans are bound in addition
    this.#memory.bind(rule)
    const larger = variants.filter(({ role }) => role === 'larger')
    const rules = larger.map((variant) => this.#memory.ruleOf(variant.compiled.policy))
    const names = this.#names
    names.text(name)
    const window = { policy: policy.name, rule, larger: rules, low: names.low, high: names.high, isBound: false }
    this.bind(window)
    return window
  }

  /** Again, of one that was closed. */
  bind(window: CounterWindow): void {
    if (window.isBound) return
    window.isBound = true
    this.#bound++
    for (const rule of [window.rule, ...window.larger]) this.#memory.bind(rule)
    this.#watch.watch(window.policy, window.rule)
  }

  close(window: CounterWindow): void {
    if (!window.isBound) return
    window.isBound = false
    this.#watch.unwatch(window.policy, window.rule)
    if (--this.#bound === 0) this.#memory.unbind()
  }

  /** `aim` for a question. */
  look(window: CounterWindow, key: string, now: number): void {
    this.aim(window, key, this.#memory.asOf(now))
  }

  /** Reads a key: everything else is about it until the next call. One that is to count is bound before. */
  aim(window: CounterWindow, key: string, now: number): void {
    this.#window = window
    const hash = this.#keys
    hash.text(key)
    this.#low = hash.low ^ window.low
    this.#high = hash.high ^ window.high
    this.#now = now
    this.#memory.aim(this.#low, this.#high, now)
    this.#entry = this.#forgiven.find(this.#low, this.#high, now, this.#memory.keptMs)
  }

  /** Whole ms until `cost` fits; 0 fits, Infinity never. */
  waitMs(cost: number): number {
    const { rule, larger } = this.#window as CounterWindow
    let longest = this.#waitMs(rule, cost)
    for (const one of larger) longest = Math.max(longest, this.#waitMs(one, cost))
    return longest
  }

  remaining(): number {
    const { rule, larger } = this.#window as CounterWindow
    let least = this.#remaining(rule)
    for (const one of larger) least = Math.min(least, this.#remaining(one))
    return least
  }

  resetAfterMs(): number {
    if (this.#entry >= 0 && this.#forgiven.unitsOf(this.#entry) === 0) return 0
    const { rule, larger } = this.#window as CounterWindow
    let longest = rule.resetAfterMs(this.#memory.spans, this.#now)
    for (const one of larger) longest = Math.max(longest, one.resetAfterMs(this.#memory.spans, this.#now))
    return longest
  }

  /** Whole ms until more than the `remaining` units fit; 0 where the key is full. */
  availableAfterMs(remaining: number): number {
    return remaining >= (this.#window as CounterWindow).rule.limit ? 0 : this.waitMs(remaining + 1)
  }

  spend(cost: number): void {
    this.#memory.add(cost, this.#now)
    if (this.#entry >= 0) this.#forgiven.move(this.#entry, cost)
  }

  /** Adds units to what was taken at `takenAt`, or refunds them; returns the units that were applied. */
  adjust(units: number, takenAt: number): number {
    const { rule } = this.#window as CounterWindow
    if (this.#entry < 0) return this.#memory.adjust(units, takenAt, this.#now, rule)
    // units before a reset need no refund, and must not be taken from later ones
    if (units < 0 && takenAt < this.#forgiven.since(this.#entry)) return 0
    const most = units > 0 ? units : Math.max(units, -this.#forgiven.unitsOf(this.#entry))
    const moved = most === 0 ? 0 : this.#memory.adjust(most, takenAt, this.#now, rule)
    return moved === 0 ? 0 : this.#forgiven.move(this.#entry, moved)
  }

  /** Counts what the caller knows in addition as taken now, because its exact time is unknown. */
  takeOver({ used, resetAfterMs }: PriorUsage): void {
    const more = Math.ceil(used) - ((this.#window as CounterWindow).rule.limit - this.remaining())
    // NaN and Infinity would never expire
    const ends = resetAfterMs > 0 && resetAfterMs <= Number.MAX_SAFE_INTEGER
    if (ends && more > 0) this.spend(more)
  }

  /** Resets the key: what was taken before `at` is forgiven. */
  forgive(at: number): void {
    const { rule } = this.#window as CounterWindow
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
}
