import type {
  BatchReceipt,
  CounterReading,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/limiter-core'
import { optionsOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { AmountCounters } from '../amount-counters.ts'
import { checkId, checkPrefix } from '../counter-id.ts'
import { tokenOf } from '../counter-token.ts'
import { listPage } from '../list-page.ts'
import type { CounterSplit } from './counter-split.ts'
import { exactSum } from './exact-sum.ts'
import { readingOf } from './split-reading.ts'

/** What a call counts under one id, and what it needs to know for that. */
interface SplitDelta {
  readonly id: string
  readonly delta: number
  readonly parts: readonly string[]
  /** Of the parts, before. */
  readonly values: readonly number[]
}

/** Counters of which each is the sum of several others, its parts. */
export class SplitCounters extends AmountCounters {
  protected readonly counters: Counters
  readonly #split: CounterSplit
  /** Counted under an id by calls that are not answered yet: room must be left for them. */
  readonly #undecided = new Map<string, number>()

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

  /** Throws where one of them would leave its range: then none is counted. */
  #reserve(deltas: readonly SplitDelta[]): void {
    for (const { id, delta, values } of deltas) {
      const value = exactSum(values)
      const undecided = this.#undecided.get(id) ?? 0
      if (Number.isSafeInteger(value + delta) && Number.isSafeInteger(value + undecided + delta)) continue
      const message = `delta: expected one that stays within ±(2^53 - 1), received ${shown(delta)} for a value of ${value}`
      throw new SluiceError('SLUICE_COUNTER_RANGE', message)
    }
    for (const { id, delta } of deltas) this.#leave(id, delta)
  }

  #leave(id: string, delta: number): void {
    const undecided = (this.#undecided.get(id) ?? 0) + delta
    if (undecided === 0) this.#undecided.delete(id)
    else this.#undecided.set(id, undecided)
  }

  /** Where the token counted in another part before, asks there: it counts nothing a second time. */
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
    // whoever waited for the ledger hears what it has, as one counter would answer
    const isWaited = options.durable || options.token !== undefined
    const mayDiffer = isWaited || this.#split.writesMany
    const sums = chosen.map(async ({ id, parts, part, values: before }) => {
      const [own, known] = [values.get(parts[part]) ?? 0, before.toSpliced(part, 1)]
      const others = mayDiffer ? await this.#freshOr(known, parts.toSpliced(part, 1), isWaited ? 0 : undefined) : known
      return [id, others.reduce((sum, value) => sum + value, own)] as const
    })
    return { values: new Map(await Promise.all(sums)), durable, counted }
  }

  /** `known`, unless all of `others` can be read: what has counted must not fail with a read. */
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
