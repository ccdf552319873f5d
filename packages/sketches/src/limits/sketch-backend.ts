import {
  type AlgorithmName,
  type Answer,
  type Backend,
  type Charge,
  ChargeVerdict,
  type CompiledPolicy,
  type CountedKey,
  clockOf,
  type Moment,
  markInfallible,
  type Observer,
  type ObserverEvent,
  Observers,
  type Policy,
  type PolicyVerdict,
  SoleDecision,
} from '@sluice/limiter-core/backend'
import { LastReading } from './last-reading.ts'
import { SaturationAlarm } from './saturation-alarm.ts'
import { type SketchBackendOptions, sketchBackendPlan } from './sketch-backend-options.ts'
import { SketchCounter } from './sketch-counter.ts'
import { SlotMemory } from './slot-memory.ts'
import { SlotSecret } from './slot-secret.ts'
import { type CounterWindow, WindowCounts } from './window-counts.ts'
import { ForgivenKeys } from './window-forgiven.ts'
import { WindowHistory } from './window-history.ts'
import type { WindowMemory } from './window-memory.ts'

const NAME = 'sketch'
/** Hash tables, slot words and Node's pools, which are included in `bytes`. */
const BYTES_BESIDE = 24 * 2 ** 10
/** Divisor of the memory for keys that were reset. */
const FORGIVEN_PART = 32

/**
 * Limits any number of keys in fixed memory, with count-min sketches instead of a count per key. No key is counted
 * too low, so no client gets more than with exact counts, whatever a flood does; other keys may raise a count.
 * Synchronous, stores no keys, has no timers. Throws `SLUICE_BAD_OPTION`.
 */
export function sketchBackend(options: SketchBackendOptions = {}): Backend<Answer> {
  return markInfallible(new SketchBackend(options))
}

type SketchCharge = Charge<SketchCounter>

class SketchBackend implements Backend<Answer> {
  readonly name = NAME
  readonly synchronous = true
  readonly perProcess = true
  readonly algorithms: readonly AlgorithmName[]
  readonly #bytes: number
  readonly #time: LastReading
  readonly #memory: WindowMemory
  readonly #counts: WindowCounts
  readonly #alarm: SaturationAlarm
  readonly #observers = new Observers()
  readonly #notRefunded = new Set<string>()
  // reported when an answer is ready: an observer may take, and must not meet unfinished counts
  readonly #unreported: [ObserverEvent, Readonly<Record<string, unknown>>][] = []

  constructor(options: SketchBackendOptions) {
    const plan = sketchBackendPlan(options)
    const secret = new SlotSecret(options.seed)
    this.#bytes = plan.bytes
    this.#time = new LastReading(clockOf(options.clock))
    const forgivenBytes = Math.floor(plan.bytes / FORGIVEN_PART)
    const bytes = plan.bytes - forgivenBytes - BYTES_BESIDE
    this.algorithms = options.history ? ['sliding-window'] : ['fixed-window', 'sliding-window']
    this.#memory = options.history
      ? new WindowHistory(options.history, bytes)
      : new SlotMemory({ ...plan, bytes }, secret)
    this.#alarm = new SaturationAlarm(this.#memory, plan.falseDenialRate, secret.wordsOf(-1_000))
    this.#counts = new WindowCounts(this.#memory, new ForgivenKeys(forgivenBytes), secret, this.#alarm)
  }

  open(compiled: CompiledPolicy, name: string): SketchCounter {
    return new SketchCounter(this, compiled, name, this.#counts.open(compiled, name))
  }

  /** `close` of a counter. */
  closeCounter({ window }: SketchCounter): void {
    this.#counts.close(window)
  }

  takeAll(requested: readonly Charge[], moment?: Moment): Answer {
    const charges = requested as readonly SketchCharge[]
    const now = this.#now(moment)
    for (const charge of charges) this.#takeOver(charge, now)
    const verdicts = charges.map((charge) => this.#ask(charge, now))
    if (verdicts.some(({ allowed, shadow }) => !allowed && !shadow)) return this.#answer(verdicts, now)
    const spendAdvisory = verdicts.every(({ allowed }) => allowed)
    const spent = charges.map((charge, index) =>
      charge.advisory && !spendAdvisory ? verdicts[index] : this.#spend(charge, now),
    )
    return this.#answer(spent, now)
  }

  /** `take` of a counter. */
  takeOne({ compiled, window }: SketchCounter, key: string, cost: number, moment?: Moment): SoleDecision {
    const now = this.#now(moment)
    const counts = this.#counts
    this.#begin(window, cost > 0, now)
    counts.aim(window, key, now)
    const waitMs = counts.waitMs(cost)
    if (waitMs === 0 && cost > 0) counts.spend(cost)
    const at = this.#takenAt(now)
    const left = counts.remaining()
    const resetMs = counts.resetAfterMs()
    const decision = new SoleDecision(NAME, compiled.policy, left, waitMs, resetMs, at, counts.availableAfterMs(left))
    if (this.#observers.any) this.#watch(waitMs === 0 ? cost : 0, now)
    return decision
  }

  peekAll(requested: readonly Charge[], moment?: Moment): Answer {
    const charges = requested as readonly SketchCharge[]
    const now = this.#time.at(moment)
    const verdicts = charges.map((charge) => {
      this.#counts.look(charge.counter.window, charge.key, now)
      return this.#verdict(charge, this.#counts.waitMs(charge.cost))
    })
    return { verdicts, takenAt: this.#takenAt(now), counted: true, source: NAME }
  }

  adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const charges = requested as readonly SketchCharge[]
    const now = this.#now(moment)
    // NaN and times in the future mean now
    const then = Number.isNaN(takenAt) ? Number.POSITIVE_INFINITY : takenAt
    const verdicts = charges.map((charge) => this.#adjustOne(charge, then, now))
    return this.#answer(verdicts, now)
  }

  resetAll(keys: readonly CountedKey[]): void {
    const at = this.#time.own(this.#memory.keptMs)
    for (const { key, counter } of keys as readonly CountedKey<SketchCounter>[]) {
      this.#counts.look(counter.window, key, this.#time.now)
      this.#counts.forgive(at)
    }
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  close(): void {
    this.#observers.clear()
  }

  /** The first take begins the time of all keys. */
  #begin(window: CounterWindow, counts: boolean, now: number): void {
    this.#counts.bind(window)
    if (counts) this.#memory.open(now)
  }

  #takeOver({ key, counter: { window }, cost, known }: SketchCharge, now: number): void {
    this.#begin(window, cost > 0 || known !== undefined, now)
    if (!known) return
    this.#counts.aim(window, key, now)
    this.#counts.takeOver(known)
  }

  #ask(charge: SketchCharge, now: number): PolicyVerdict {
    this.#counts.aim(charge.counter.window, charge.key, now)
    return this.#verdict(charge, this.#counts.waitMs(charge.cost))
  }

  #spend(charge: SketchCharge, now: number): PolicyVerdict {
    const { key, counter, cost } = charge
    this.#counts.aim(counter.window, key, now)
    if (cost > 0) this.#counts.spend(cost)
    if (this.#observers.any) this.#alarm.add(cost)
    return this.#verdict(charge, 0)
  }

  #adjustOne(charge: SketchCharge, takenAt: number, now: number): PolicyVerdict {
    const { key, counter, cost } = charge
    const { policy } = counter.compiled
    const counts = this.#counts
    this.#begin(counter.window, cost > 0, now)
    counts.aim(counter.window, key, now)
    const moved = cost === 0 ? 0 : counts.adjust(cost, takenAt)
    if (moved > 0 && this.#observers.any) this.#alarm.add(moved)
    if (this.#observers.any && (moved < cost || (cost < 0 && this.#refusesRefund(policy)))) {
      this.#unreported.push(['lateCharge', { policy: policy.name, key, units: cost - moved }])
    }
    return this.#verdict(charge, 0)
  }

  /** Whether to report that refunds of this policy are dropped, which is done once. */
  #refusesRefund({ name }: Policy): boolean {
    if (this.#memory.refunds || this.#notRefunded.has(name)) return false
    this.#notRefunded.add(name)
    return true
  }

  #verdict({ counter: { compiled }, advisory }: SketchCharge, waitMs: number): ChargeVerdict {
    const counts = this.#counts
    const left = counts.remaining()
    const resetMs = counts.resetAfterMs()
    return new ChargeVerdict(compiled.policy, advisory === true, left, waitMs, resetMs, counts.availableAfterMs(left))
  }

  #answer(verdicts: PolicyVerdict[], now: number): Answer {
    if (this.#observers.any) this.#watch(0, now)
    return { verdicts, takenAt: this.#takenAt(now), counted: true, source: NAME }
  }

  #watch(units: number, now: number): void {
    this.#alarm.add(units)
    if (this.#alarm.due) {
      const about = { backend: NAME, bytes: this.#bytes }
      for (const saturation of this.#alarm.look(now)) this.#unreported.push(['saturated', { ...about, ...saturation }])
    }
    for (const event of this.#unreported.splice(0)) this.#observers.event(...event)
  }

  /** After a clock stepped back, units are counted in the current slot, so refunds must go there. */
  #takenAt(now: number): number {
    return Math.max(now, this.#memory.countsFrom)
  }

  #now(moment: Moment | undefined): number {
    const now = this.#time.read(moment)
    if (this.#memory.turn(now)) this.#alarm.turned(now)
    return now
  }
}
