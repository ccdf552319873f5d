import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'
import { availableAfterMs } from '../algorithms/available-after-ms.ts'
import { clockOf } from '../clock.ts'
import type { Answer, Backend, Charge, Clock, Moment, Observer, PolicyVerdict, PriorUsage, Step } from '../contracts.ts'
import { SluiceError } from '../errors.ts'
import { infallible } from '../failover/infallible.ts'
import { isMissing, makeGood } from '../make-good.ts'
import { Observers } from '../observers.ts'
import { optionsOf } from '../options.ts'
import { RuledDecision } from '../ruled-decision.ts'
import { shown } from '../shown.ts'
import type { SoleDecision } from '../sole-decision.ts'
import { vetoed } from '../verdict.ts'
import { CountTable, type Lane } from './count-table.ts'
import { MemoryDecision } from './memory-decision.ts'
import { MemoryVerdict } from './memory-verdict.ts'
import type { SlotRef } from './shard.ts'

export interface MemoryBackendOptions {
  /** Bound of everything kept, in bytes; default: 64 MiB, at least 64 KiB. One page for each cell count is always kept. */
  readonly maxBytes?: number
  readonly clock?: Clock
}

const DEFAULT_MAX_BYTES = 64 * 2 ** 20
const LEAST_MAX_BYTES = 64 * 2 ** 10

/**
 * Counts in this process, exact until `maxBytes` is used up. Then the least used keys go first, and those that had used
 * half of their limit or more are remembered in the tail, so that nobody becomes free by flooding.
 * Answers at once; keeps keys as 54-bit keyed fingerprints and never the keys themselves; has no timers.
 */
export function memoryBackend(options: MemoryBackendOptions = {}): Backend<Answer> {
  const { maxBytes = DEFAULT_MAX_BYTES, clock } = optionsOf('memoryBackend', options, ['maxBytes', 'clock'])
  if (!Number.isSafeInteger(maxBytes) || maxBytes < LEAST_MAX_BYTES) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `memoryBackend: maxBytes: got ${shown(maxBytes, 'maxBytes')}, expected a whole number from ${LEAST_MAX_BYTES}`,
    )
  }
  return infallible(new MemoryBackend(maxBytes, clockOf(clock)))
}

/** Public to failover alone, which mirrors another backend in it. */
export class MemoryBackend implements Backend<Answer> {
  readonly name = 'memory'
  readonly synchronous = true
  readonly perProcess = true
  readonly #clock: Clock
  readonly #ruledBy: string | undefined
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #table: CountTable
  readonly #lanes = new WeakMap<Step, Lane>()
  // names have a seed of their own: a key must not reach another count by being written like its name
  readonly #names: KeyedHash = createKeyedHash()
  readonly #observers = new Observers()
  // told when an answer is ready: an observer may take, and must not meet a table in the middle of its work
  readonly #untold: Parameters<Observers['event']>[] = []
  // most limiters have one policy: its lane without a look-up
  #lastLane: Lane | undefined

  /** `ruledBy`: it answers in the place of another backend, by its failure rule. */
  constructor(maxBytes: number, clock: Clock, ruledBy?: string) {
    this.#clock = clock
    this.#ruledBy = ruledBy
    this.#table = new CountTable(maxBytes, (...event) => this.#untold.push(event))
  }

  take(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#now(moment)
    for (const charge of charges) if (charge.known) this.#takeOver(charge, charge.known, now)
    return this.#answer(this.#takeAll(charges, now), now)
  }

  takeOne(key: string, step: Step, count: string, cost: number, moment?: Moment): SoleDecision {
    const now = this.#now(moment)
    const table = this.#table
    const lane = this.#aim(key, step, count)
    let place = table.find(lane, now)
    const waitMs = step.waitMs(place.cells, place.at, now, cost)
    if (waitMs === 0) place = table.spend(lane, place, now, cost)
    const remaining = step.remaining(place.cells, place.at, now)
    const resetAfterMs = step.resetAfterMs(place.cells, place.at, now)
    table.mark(lane, place, now, remaining, resetAfterMs)
    if (this.#untold.length > 0) this.#tell()
    if (this.#ruledBy === undefined) return new MemoryDecision(step, place, now, remaining, waitMs, resetAfterMs)
    const growsMs = availableAfterMs(step, place.cells, place.at, now, remaining)
    return new RuledDecision(this.#ruledBy, step.policy, remaining, waitMs, resetAfterMs, now, growsMs)
  }

  peek(charges: readonly Charge[], moment?: Moment): Answer {
    const now = this.#read(moment)
    return this.#answer(this.#ask(charges, now, false), now)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const now = this.#now(moment)
    // a later instant, or none at all, means now
    const then = Math.min(Number.isNaN(takenAt) ? now : takenAt, now)
    for (const charge of charges) if (charge.known) this.#takeOver(charge, charge.known, now)
    const verdicts = charges.map((charge) => this.#adjustOne(charge, then, now))
    return this.#answer(verdicts, now)
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): void {
    const now = this.#now(undefined)
    for (const target of targets) {
      this.#table.reset(this.#aim(target.key, target.step, target.count), now)
    }
  }

  /** The numbers of a key, to read before anything else is asked: changes nothing. */
  look(key: string, step: Step, count: string, now: number): SlotRef {
    return this.#table.look(this.#aim(key, step, count), now)
  }

  /** Makes of a key what is known of it. A fresh one is not kept. `by` adopts in the place of the step. */
  adopt(
    target: Pick<Charge, 'key' | 'step' | 'count'>,
    known: PriorUsage,
    now: number,
    by?: Pick<Step, 'adopt'>,
  ): void {
    this.#table.startAt(now)
    this.#table.adopt(this.#aim(target.key, target.step, target.count), known, now, by)
    if (this.#untold.length > 0) this.#tell()
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer)
  }

  close(): void {
    this.#observers.clear()
  }

  #takeOver({ key, step, count }: Charge, known: PriorUsage, now: number): void {
    const lane = this.#aim(key, step, count)
    const looked = this.#table.look(lane, now)
    // what is no number, or has no end, would stay
    const ends = known.resetAfterMs > 0 && known.resetAfterMs <= Number.MAX_SAFE_INTEGER
    if (!ends || !isMissing(step, looked.cells, looked.at, now, known)) return
    const place = this.#table.hold(lane, this.#table.find(lane, now), now)
    const { cells, at } = place
    makeGood(step, cells, at, now, known)
    this.#table.mark(lane, place, now, step.remaining(cells, at, now), step.resetAfterMs(cells, at, now))
  }

  // asked first and found again for the spending: an insert may move or evict what was found before it
  #takeAll(charges: readonly Charge[], now: number): PolicyVerdict[] {
    const asked = this.#ask(charges, now, true)
    if (vetoed(asked)) return asked
    const spendAdvisory = asked.every((verdict) => verdict.allowed)
    return charges.map((charge, index) => {
      if (charge.advisory && !spendAdvisory) return asked[index]
      const lane = this.#aim(charge.key, charge.step, charge.count)
      const place = this.#table.spend(lane, this.#table.find(lane, now), now, charge.cost)
      return this.#verdict(charge, lane, place, now, 0)
    })
  }

  #ask(charges: readonly Charge[], now: number, mayRecall: boolean): PolicyVerdict[] {
    return charges.map((charge) => {
      const lane = this.#aim(charge.key, charge.step, charge.count)
      const place = mayRecall ? this.#table.find(lane, now) : this.#table.look(lane, now)
      const waitMs = charge.step.waitMs(place.cells, place.at, now, charge.cost)
      return mayRecall ? this.#verdict(charge, lane, place, now, waitMs) : verdictOf(charge, place, now, waitMs)
    })
  }

  #adjustOne(charge: Charge, takenAt: number, now: number): PolicyVerdict {
    const { step, cost } = charge
    const table = this.#table
    const lane = this.#aim(charge.key, step, charge.count)
    let place = table.find(lane, now)
    // a refund of a key that is gone has nothing to give back, and creates no key
    if (cost > 0) place = table.hold(lane, place, now)
    const moved = cost === 0 || !table.isHeld(place) ? 0 : step.adjust(place.cells, place.at, now, cost, takenAt)
    if (moved < cost)
      this.#untold.push(['lateCharge', { policy: step.policy.name, key: charge.key, units: cost - moved }])
    return this.#verdict(charge, lane, place, now, 0)
  }

  #verdict(charge: Charge, lane: Lane, place: SlotRef, now: number, waitMs: number): PolicyVerdict {
    const verdict = verdictOf(charge, place, now, waitMs)
    this.#table.mark(lane, place, now, verdict.remaining, verdict.resetAfterMs)
    return verdict
  }

  #answer(verdicts: PolicyVerdict[], now: number): Answer {
    if (this.#untold.length > 0) this.#tell()
    return { verdicts, takenAt: now, counted: this.#ruledBy === undefined, source: this.#ruledBy ?? 'memory' }
  }

  #now(moment: Moment | undefined): number {
    const now = this.#read(moment)
    this.#table.startAt(now)
    return now
  }

  /** A reading that is no number is as good as none. */
  #read(moment: Moment | undefined): number {
    const given = moment?.now ?? this.#clock.now()
    return Math.abs(given) <= Number.MAX_SAFE_INTEGER ? given : this.#clock.now()
  }

  /** Points the table at a key of a count. */
  #aim(key: string, step: Step, count: string): Lane {
    const last = this.#lastLane
    const lane = last?.step === step && last.count === count ? last : this.#lane(step, count)
    const hash = this.#hash
    hash.text(key)
    this.#table.aim(lane, hash.low, hash.high)
    return lane
  }

  #lane(step: Step, count: string): Lane {
    let lane = this.#lanes.get(step)
    if (lane?.count !== count) {
      this.#names.text(count)
      lane = this.#table.lane(step, count, this.#names.low, this.#names.high)
      this.#lanes.set(step, lane)
    }
    this.#lastLane = lane
    return lane
  }

  #tell(): void {
    for (const event of this.#untold.splice(0)) this.#observers.event(...event)
  }
}

function verdictOf({ step, advisory }: Charge, place: SlotRef, now: number, waitMs: number): PolicyVerdict {
  const remaining = step.remaining(place.cells, place.at, now)
  return new MemoryVerdict(step, advisory === true, place, now, remaining, waitMs)
}
