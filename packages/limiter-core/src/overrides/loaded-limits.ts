import { isPromise } from '../contracts/maybe-promise.ts'
import type { Clock, MaybePromise, Metric } from '../contracts.ts'
import { messageOf } from '../errors/errors.ts'
import { warn } from '../errors/warn-once.ts'
import { KeyLimits, type OverriddenKeys } from './key-limits.ts'

export interface LimitSource {
  readonly load: () => MaybePromise<unknown>
  readonly refreshMs: number
  readonly clock: Clock
}

/** Time after which a load that has not finished is considered lost, in ms. Its result is ignored. */
const LOST_MS = 300_000

/** Limits of single keys, loaded at once and then every `refreshMs`. A failed load leaves the limits unchanged. */
export class LoadedLimits extends KeyLimits {
  readonly #source: LimitSource
  readonly #loads = { replaced: 0, failed: 0 }
  /** The load under way. */
  #loading: { readonly startedAt: number } | undefined
  /** Whether the last load failed. Only the first of several failures is warned about. */
  #isFailing = false
  #isClosed = false
  #cancel: (() => void) | undefined

  constructor(source: LimitSource, keys: OverriddenKeys) {
    super({}, keys, (error) => this.#failed(error))
    this.#source = source
    this.#load()
  }

  /** Returns `sluice_overrides` and `sluice_overrides_loads_total{result}` with the results `replaced` and `failed`. */
  override *metrics(): Iterable<Metric> {
    yield* super.metrics()
    yield {
      name: 'sluice_overrides_loads_total',
      help: 'Loads of limits of single keys.',
      type: 'counter',
      samples: Object.entries(this.#loads).map(([result, value]) => ({ labels: { result }, value })),
    }
  }

  override close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #load(): void {
    const { load, refreshMs, clock } = this.#source
    this.#cancel = clock.after(refreshMs, () => this.#load())
    const startedAt = clock.now()
    if (this.#loading) {
      this.#failed(`load did not finish within ${refreshMs} ms`)
      if (startedAt - this.#loading.startedAt < LOST_MS) return
    }
    const loading = { startedAt }
    this.#loading = loading
    const ended = (end: () => void): void => {
      if (this.#loading !== loading) return
      this.#loading = undefined
      if (!this.#isClosed) end()
    }
    const answered = (limits: unknown): void => ended(() => this.#answered(limits))
    const failed = (error: unknown): void => ended(() => this.#failed(error))
    try {
      const answer = load()
      if (isPromise(answer)) Promise.resolve(answer).then(answered, failed)
      else answered(answer)
    } catch (error) {
      failed(error)
    }
  }

  #answered(limits: unknown): void {
    try {
      this.replace(limits)
      this.#loads.replaced++
      this.#isFailing = false
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#loads.failed++
    if (this.#isFailing) return
    this.#isFailing = true
    const why = messageOf(error)
    warn(
      'SLUICE_OVERRIDES_STALE',
      `limitOverrides: limits could not be loaded or applied, the current limits stay in force: ${why}`,
    )
  }
}
