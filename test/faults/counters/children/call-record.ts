import { StallWatch } from '../../children/stall-watch.ts'

/** `plain` on an id that was known before, `new` and `token` on one that nobody ever counted; all but plain ones wait for the ledger. */
export type CallKind = 'plain' | 'new' | 'durable' | 'token'

/** One increment. Instants are epoch ms. */
export interface Call {
  readonly kind: CallKind
  readonly at: number
  readonly endedAt: number
  /** Without what the process stood still. */
  readonly ms: number
  /** Of what it rejected with. */
  readonly code: string | undefined
}

interface Noted extends Pick<Call, 'kind' | 'code'> {
  readonly from: number
  readonly to: number
}

/** What became of increments: how long each took, and what the ledger must have of each id. */
export class CallRecord {
  readonly #watch = new StallWatch()
  readonly #noted: Noted[] = []
  /** By id, units that were answered. */
  readonly answered = new Map<string, number>()
  /** By id, units of calls that may have counted all the same. */
  readonly doubtful = new Map<string, number>()
  pending = 0

  /** Makes a call of one unit. Resolves with whether it was answered. */
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
