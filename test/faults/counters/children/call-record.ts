import { StallWatch } from '../../children/stall-watch.ts'

/**
 * `plain` calls use known ids, `new` and `token` calls use ids that were never counted before. All calls except plain
 * ones wait for the ledger.
 */
export type CallKind = 'plain' | 'new' | 'durable' | 'token'

/** One increment. Times are in epoch milliseconds. */
export interface Call {
  readonly kind: CallKind
  readonly at: number
  readonly endedAt: number
  /** Duration without stalls of the process. */
  readonly ms: number
  /** Code of the error if the call rejected. */
  readonly code: string | undefined
}

interface Noted extends Pick<Call, 'kind' | 'code'> {
  readonly from: number
  readonly to: number
}

/** Records the duration of increments and the units that the ledger must have for each id. */
export class CallRecord {
  readonly #watch = new StallWatch()
  readonly #noted: Noted[] = []
  /** Acknowledged units by id. */
  readonly answered = new Map<string, number>()
  /** Units of failed calls that may still have been counted, by id. */
  readonly doubtful = new Map<string, number>()
  pending = 0

  /** Makes a call with one unit. Resolves with whether it succeeded. */
  async make(kind: CallKind, id: string, increment: () => Promise<unknown>): Promise<boolean> {
    this.pending++
    const from = performance.now()
    const code = await increment().then(
      () => undefined,
      (error: unknown) => String((error as { readonly code?: unknown }).code ?? error),
    )
    this.pending--
    this.#noted.push({ kind, from, to: performance.now(), code })
    if (code === undefined) addOne(this.answered, id)
    else if (code === 'SLUICE_COUNTERS_UNAVAILABLE') addOne(this.doubtful, id)
    return code === undefined
  }

  get longestStallMs(): number {
    return this.#watch.longestMs
  }

  end(): readonly Call[] {
    this.#watch.stop()
    return this.#noted.map(({ kind, code, from, to }) => ({
      kind,
      code,
      at: performance.timeOrigin + from,
      endedAt: performance.timeOrigin + to,
      ms: to - from - this.#watch.within(from, to),
    }))
  }
}

function addOne(sums: Map<string, number>, id: string): void {
  sums.set(id, (sums.get(id) ?? 0) + 1)
}
