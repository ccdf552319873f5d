import type { CounterDeltas, Counters, IncrementOptions } from '@sluice/fleet/backend'
import type { SeededRandom } from '@sluice/testkit'

const IDS = ['a', 'b', 'c', '\\0', '\0', '\\\\0', '\ud800', '\\ud800', 'x\\', 'x']
/** Codes of calls that were rejected, or that may have counted. */
const EXPECTED_CODES = ['SLUICE_COUNTERS_UNAVAILABLE', 'SLUICE_COUNTERS_FULL']

export interface CounterHistoryOptions {
  readonly random: SeededRandom
  /** Whether a plain call that fails has certainly not counted. */
  readonly isPlainSure: boolean
  /** Whether a plain call that was acknowledged is kept permanently. */
  readonly isPlainKept: boolean
  readonly hasResets: boolean
  /** The reads that include everything acknowledged before: no reads, reads from the ledger, or all reads. */
  readonly sureReads: 'none' | 'ledger' | 'all'
}

/** Makes random calls to counters that share a ledger, and computes what the ledger must contain at the end. */
export class CounterHistory {
  readonly #options: CounterHistoryOptions
  /** Acknowledged units by id. */
  readonly sure = new Map<string, number>()
  /** Further units by id that may have been counted: for each call either 0 or all of its units. */
  readonly maybe = new Map<string, number>()
  /** Units of all calls by id. No read may return more. */
  readonly #issued = new Map<string, number>()
  readonly failures: unknown[] = []
  readonly #tokens = new Map<string, { readonly deltas: Record<string, number>; isCounted: boolean }>()
  #made = 0
  #waiting = 0

  constructor(options: CounterHistoryOptions) {
    this.#options = options
  }

  /** Number of calls that are not settled. */
  get waiting(): number {
    return this.#waiting
  }

  /** Starts a call. */
  step(counters: Counters): void {
    const { random, hasResets } = this.#options
    const kind = random.whole(100)
    if (kind < 45) this.#plain(counters)
    else if (kind < 60) this.#token(counters, `t${this.#made++}`, this.#deltas())
    else if (kind < 68) this.#again(counters)
    else if (kind < 76) this.#durable(counters)
    else if (kind < 88) this.#track(this.#reading(counters))
    else if (kind < 92) this.#track(counters.flush())
    else if (hasResets) this.#reset(counters)
  }

  /** Repeats all calls with a token that were not acknowledged. */
  again(counters: Counters): void {
    for (const [token, { deltas, isCounted }] of this.#tokens) if (!isCounted) this.#token(counters, token, deltas)
  }

  get hasOpenTokens(): boolean {
    return [...this.#tokens.values()].some(({ isCounted }) => !isCounted)
  }

  #plain(counters: Counters): void {
    const deltas = this.#deltas()
    const { isPlainSure, isPlainKept } = this.#options
    const lost = (): void => {
      if (!isPlainSure) addTo(this.maybe, deltas)
    }
    this.#count(counters, deltas, {}, { lost, kept: isPlainKept ? this.sure : this.maybe })
  }

  /** Uses a unique id, so that the ledger shows whether the call counted. */
  #durable(counters: Counters): void {
    const deltas = { [`d${this.#made++}`]: 1 + this.#options.random.whole(9) }
    this.#count(counters, deltas, { durable: true }, { lost: () => addTo(this.maybe, deltas), kept: this.sure })
  }

  #again(counters: Counters): void {
    const token = this.#options.random.pick([...this.#tokens.keys()])
    if (token !== undefined) this.#token(counters, token, this.#tokens.get(token)?.deltas ?? {})
  }

  #token(counters: Counters, token: string, deltas: Record<string, number>): void {
    const known = this.#tokens.get(token) ?? { deltas, isCounted: false }
    if (!this.#tokens.has(token)) addTo(this.#issued, deltas)
    this.#tokens.set(token, known)
    const counted = counters.incrementMany(deltas, { token }).then(() => {
      if (!known.isCounted) addTo(this.sure, deltas)
      known.isCounted = true
    })
    this.#track(counted)
  }

  #count(
    counters: Counters,
    deltas: Record<string, number>,
    options: IncrementOptions,
    { lost, kept }: { readonly lost: () => void; readonly kept: Map<string, number> },
  ): void {
    addTo(this.#issued, deltas)
    const counted = counters.incrementMany(deltas satisfies CounterDeltas, options).then(
      () => addTo(kept, deltas),
      (error: unknown) => {
        if ((error as { readonly code?: unknown }).code === 'SLUICE_COUNTERS_UNAVAILABLE') lost()
        throw error
      },
    )
    this.#track(counted)
  }

  #reading(counters: Counters): Promise<unknown> {
    const { random } = this.#options
    const id = random.pick(IDS)
    const kind = random.whole(8)
    if (kind === 0) return counters.aggregate('')
    if (kind === 1) return counters.readMany('', { limit: 5 })
    return this.#read(counters, id, kind < 4)
  }

  async #read(counters: Counters, id: string, isOfLedger: boolean): Promise<void> {
    const { sureReads } = this.#options
    const isSure = sureReads === 'all' || (sureReads === 'ledger' && isOfLedger)
    const least = isSure ? (this.sure.get(id) ?? 0) : 0
    const { value } = await counters.read(id, isOfLedger ? { maxAgeMs: 0 } : {})
    const most = this.#issued.get(id) ?? 0
    if (value < least || value > most) throw new Error(`read of ${id}: expected ${least} to ${most}, received ${value}`)
  }

  /** Uses unique ids, whose values are unknown, and only checks that reads and the ledger agree. */
  #reset(counters: Counters): void {
    const { random } = this.#options
    const id = `r${random.whole(2)}`
    this.#track(counters.increment(id, 1, random.whole(2) === 0 ? { durable: true } : {}))
    this.#track(random.whole(2) === 0 ? counters.reset(id) : counters.delete(id))
    this.#track(counters.increment(id))
  }

  #deltas(): Record<string, number> {
    const { random } = this.#options
    const length = random.whole(4) === 0 ? 1 + random.whole(4) : 1
    return Object.fromEntries(Array.from({ length }, () => [random.pick(IDS), random.whole(6)]))
  }

  #track(call: Promise<unknown>): void {
    this.#waiting++
    const settled = (): void => {
      this.#waiting--
    }
    call.then(settled, (error: unknown) => {
      settled()
      if (!EXPECTED_CODES.includes(String((error as { readonly code?: unknown }).code))) this.failures.push(error)
    })
  }
}

function addTo(sums: Map<string, number>, deltas: Record<string, number>): void {
  for (const [id, amount] of Object.entries(deltas)) sums.set(id, (sums.get(id) ?? 0) + amount)
}
