import { createKeyedHash, type KeyedHash } from '@sluice/keyed-hash'
import { systemClock } from '../clock.ts'
import type { Answer, Backend, Charge, Clock, Moment, Observer, PolicyVerdict, Step } from '../contracts.ts'
import { SluiceError, shown } from '../errors.ts'
import { optionsOf } from '../options.ts'
import { ChargeVerdict, vetoed } from '../verdict.ts'
import { CountTable } from './count-table.ts'

export interface MemoryBackendOptions {
  /** Bound of everything kept, in bytes: 64 MiB unless said, at least 64 KiB. One page for each cell count is always kept. */
  readonly maxBytes?: number
  readonly clock?: Clock
}

const DEFAULT_MAX_BYTES = 64 * 2 ** 20
const LEAST_MAX_BYTES = 64 * 2 ** 10

/**
 * Counts in this process, exact until `maxBytes` is used up. Then the least used keys go first, and those that had used
 * half of their limit or more are remembered in the tail, so that nobody becomes free by flooding.
 * Answers at once; keeps keys as 56-bit keyed fingerprints and never the keys themselves; has no timers.
 */
export function memoryBackend(options: MemoryBackendOptions = {}): Backend<Answer> {
  const { maxBytes = DEFAULT_MAX_BYTES, clock = systemClock } = optionsOf('memoryBackend', options, [
    'maxBytes',
    'clock',
  ])
  if (!Number.isSafeInteger(maxBytes) || maxBytes < LEAST_MAX_BYTES) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `memoryBackend: maxBytes: got ${shown(maxBytes)}, expected a whole number from ${LEAST_MAX_BYTES}`,
    )
  }
  return new MemoryBackend(maxBytes, clock)
}

/** Where the counts of one step lie: its own salt over the hash of the key. */
interface Lane {
  readonly count: string
  readonly low: number
  readonly high: number
}

class MemoryBackend implements Backend<Answer> {
  readonly name = 'memory'
  readonly synchronous = true
  readonly #clock: Clock
  readonly #hash: KeyedHash = createKeyedHash()
  readonly #table: CountTable
  readonly #lanes = new WeakMap<Step, Lane>()
  readonly #observers = new Set<Observer>()
  // most limiters have one policy: its lane without a look-up
  #lastStep: Step | undefined
  #lastLane: Lane = { count: '', low: 0, high: 0 }

  constructor(maxBytes: number, clock: Clock) {
    this.#clock = clock
    this.#table = new CountTable(maxBytes, clock.now(), (name, data) => this.#tell(name, data))
  }

  take(charges: readonly Charge[], moment?: Moment): Answer {
    const now = moment?.now ?? this.#clock.now()
    const verdicts = charges.length === 1 ? [this.#takeOne(charges[0], now)] : this.#takeAll(charges, now)
    return this.#answer(verdicts, now)
  }

  peek(charges: readonly Charge[], moment?: Moment): Answer {
    const now = moment?.now ?? this.#clock.now()
    return this.#answer(this.#ask(charges, now, false), now)
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const now = moment?.now ?? this.#clock.now()
    const verdicts = charges.map((charge) => {
      const { step } = charge
      this.#aim(charge)
      this.#table.find(step, now)
      const moved = charge.cost === 0 ? 0 : this.#table.adjust(step, now, charge.cost, Math.min(takenAt, now))
      if (charge.cost > 0 && moved < charge.cost) this.#tellLate(charge, charge.cost - moved)
      return this.#verdict(charge, now, 0)
    })
    return this.#answer(verdicts, now)
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): void {
    const now = this.#clock.now()
    for (const target of targets) {
      this.#aim(target)
      this.#table.reset(target.step, now)
    }
  }

  observe(observer: Observer): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  close(): void {
    this.#observers.clear()
  }

  #takeOne(charge: Charge, now: number): PolicyVerdict {
    const { step, cost } = charge
    this.#aim(charge)
    this.#table.find(step, now)
    const waitMs = step.waitMs(this.#table.cells, this.#table.at, now, cost)
    if (waitMs === 0) this.#table.spend(step, now, cost)
    return this.#verdict(charge, now, waitMs)
  }

  // asked first and found again for the spending: an insert may move or evict what was found before it
  #takeAll(charges: readonly Charge[], now: number): PolicyVerdict[] {
    const asked = this.#ask(charges, now, true)
    if (vetoed(asked)) return asked
    const spendAdvisory = asked.every((verdict) => verdict.allowed)
    return charges.map((charge, index) => {
      if (charge.advisory && !spendAdvisory) return asked[index]
      this.#aim(charge)
      this.#table.find(charge.step, now)
      this.#table.spend(charge.step, now, charge.cost)
      return this.#verdict(charge, now, 0)
    })
  }

  #ask(charges: readonly Charge[], now: number, mayRecall: boolean): PolicyVerdict[] {
    return charges.map((charge) => {
      this.#aim(charge)
      if (mayRecall) this.#table.find(charge.step, now)
      else this.#table.look(charge.step, now)
      return this.#verdict(charge, now, charge.step.waitMs(this.#table.cells, this.#table.at, now, charge.cost))
    })
  }

  #verdict(charge: Charge, now: number, waitMs: number): PolicyVerdict {
    const { step } = charge
    const table = this.#table
    const remaining = step.remaining(table.cells, table.at, now)
    const resetAfterMs = step.resetAfterMs(table.cells, table.at, now)
    table.mark(step, now, remaining, resetAfterMs)
    return new ChargeVerdict(step.policy, charge.advisory === true, remaining, waitMs, resetAfterMs)
  }

  #answer(verdicts: PolicyVerdict[], now: number): Answer {
    return { verdicts, takenAt: now, counted: true, source: 'memory' }
  }

  /** Points the table at a charge. */
  #aim(charge: Pick<Charge, 'key' | 'step' | 'count'>): void {
    const lane = this.#lane(charge.step, charge.count)
    const hash = this.#hash
    hash.text(charge.key)
    this.#table.aim(hash.low ^ lane.low, hash.high ^ lane.high)
  }

  #lane(step: Step, count: string): Lane {
    if (step === this.#lastStep && count === this.#lastLane.count) return this.#lastLane
    let lane = this.#lanes.get(step)
    if (lane?.count !== count) {
      this.#hash.text(count)
      lane = { count, low: this.#hash.low, high: this.#hash.high }
      this.#lanes.set(step, lane)
    }
    this.#lastStep = step
    this.#lastLane = lane
    return lane
  }

  #tellLate(charge: Charge, units: number): void {
    this.#tell('lateCharge', { policy: charge.step.policy.name, key: charge.key, units })
  }

  #tell(...event: Parameters<NonNullable<Observer['event']>>): void {
    for (const observer of this.#observers) observer.event?.(...event)
  }
}
