import type {
  BatchReceipt,
  CounterReading,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import { optionsOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { AmountCounters } from '../amount-counters.ts'
import { checkId, checkPrefix } from '../counter-id.ts'
import { tokenOf } from '../counter-token.ts'
import { listPage } from '../list-page.ts'
import type { CounterSplit } from './counter-split.ts'
import { exactSum } from './exact-sum.ts'
import { readingOf } from './split-reading.ts'

/** An id and delta of a call, with the parts of the counter. */
interface SplitDelta {
  readonly id: string
  readonly delta: number
  readonly parts: readonly string[]
  /** Values of the parts before the call. */
  readonly values: readonly number[]
}

/** Counters that are each the sum of several other counters, the parts. */
export class SplitCounters extends AmountCounters {
  protected readonly counters: Counters
  readonly #split: CounterSplit
  /** Sum of deltas by id of calls without a reply yet, which the range check includes. */
  readonly #pending = new Map<string, number>()

  constructor(counters: Counters, split: CounterSplit) {
    super()
    this.counters = counters
    this.#split = split
  }

  async read(id: string, options: ReadOptions = {}): Promise<CounterReading> {
    checkId(id)
    const parts = this.#split.partsOf(id)
    const readings = await Promise.all(parts.map((part) => this.counters.read(part, options)))
    return readingOf(id, readings, this.#split)
  }

  async readMany(prefix: string, options: ReadManyOptions = {}): Promise<readonly CounterReading[]> {
    const page = listPage(prefix, options)
    return this.#split.list(prefix, page)
  }

  async aggregate(prefix: string, kind: 'sum' = 'sum'): Promise<number> {
    checkPrefix(prefix)
    return this.#split.sum(prefix, kind)
  }

  protected async clear(id: string, deleted: boolean): Promise<void> {
    const parts = this.#split.partsOf(id)
    await Promise.all(parts.map((part) => (deleted ? this.counters.delete(part) : this.counters.reset(part))))
  }

  flush(): Promise<void> {
    return this.counters.flush()
  }

  close(): Promise<void> {
    return this.counters.close()
  }

  async count(amounts: ReadonlyMap<string, number>, options: IncrementOptions): Promise<BatchReceipt> {
    const { token } = optionsOf('increment', options, ['token', 'durable'])
    const hash = token === undefined ? undefined : tokenOf(token, amounts).token
    const deltas = await Promise.all(Array.from(amounts, (pair) => this.#known(...pair)))
    this.#reserve(deltas)
    try {
      return hash === undefined
        ? await this.#send(deltas, options, ({ values, delta }) => this.#split.partFor(values, delta))
        : await this.#sendOnce(deltas, options, hash)
    } finally {
      for (const { id, delta } of deltas) this.#leave(id, -delta)
    }
  }

  async #known(id: string, delta: number): Promise<SplitDelta> {
    const parts = this.#split.partsOf(id)
    const readings = await Promise.all(parts.map((part) => this.counters.read(part)))
    return { id, delta, parts, values: readings.map(({ value }) => value) }
  }

  /** Throws `SLUICE_COUNTER_RANGE` if a value would leave its range; then nothing is counted. */
  #reserve(deltas: readonly SplitDelta[]): void {
    for (const { id, delta, values } of deltas) {
      const value = exactSum(values)
      const pending = this.#pending.get(id) ?? 0
      if (Number.isSafeInteger(value + delta) && Number.isSafeInteger(value + pending + delta)) continue
      const message = `delta: expected a value within ±(2^53 - 1), received ${shown(delta)} for a value of ${value}`
      throw new SluiceError('SLUICE_COUNTER_RANGE', message)
    }
    for (const { id, delta } of deltas) this.#leave(id, delta)
  }

  #leave(id: string, delta: number): void {
    const pending = (this.#pending.get(id) ?? 0) + delta
    if (pending === 0) this.#pending.delete(id)
    else this.#pending.set(id, pending)
  }

  /**
   * Sends the call to the part of the token. If the token was reused there, tries the parts in which it may have
   * counted earlier.
   */
  async #sendOnce(deltas: readonly SplitDelta[], options: IncrementOptions, hash: string): Promise<BatchReceipt> {
    let failure: unknown
    for (const part of this.#split.partsForToken(hash)) {
      try {
        return await this.#send(deltas, options, () => part)
      } catch (error) {
        if ((error as { readonly code?: unknown } | null)?.code !== 'SLUICE_TOKEN_REUSED') throw error
        failure = error
      }
    }
    throw failure
  }

  async #send(
    deltas: readonly SplitDelta[],
    options: IncrementOptions,
    partFor: (delta: SplitDelta) => number,
  ): Promise<BatchReceipt> {
    const chosen = deltas.map((delta) => ({ ...delta, part: partFor(delta) }))
    const pairs = chosen.map(({ parts, part, delta }) => [parts[part], delta] as const)
    const { values, durable, counted } = await this.counters.incrementMany(pairs, options)
    // a call that waited for the ledger returns the ledger's values, as a single counter would
    const isWaited = options.durable || options.token !== undefined
    const mayDiffer = isWaited || this.#split.writesMany
    const sums = chosen.map(async ({ id, parts, part, values: before }) => {
      const [own, known] = [values.get(parts[part]) ?? 0, before.toSpliced(part, 1)]
      const others = mayDiffer ? await this.#freshOr(known, parts.toSpliced(part, 1), isWaited ? 0 : undefined) : known
      return [id, others.reduce((sum, value) => sum + value, own)] as const
    })
    return { values: new Map(await Promise.all(sums)), durable, counted }
  }

  /** Reads `others`, or returns `known` if a read fails: a call that has counted must not fail because of a read. */
  async #freshOr(
    known: readonly number[],
    others: readonly string[],
    maxAgeMs: number | undefined,
  ): Promise<readonly number[]> {
    const reads = others.map((other) => this.counters.read(other, { maxAgeMs }))
    return Promise.all(reads).then(
      (readings) => readings.map(({ value }) => value),
      () => known,
    )
  }
}
