import { processWideMap, RequestLife, systemClock } from '@sluice/http'
import { type RawExtra, signalOf } from './mcp-call.ts'

const lives = processWideMap<object, ToolLife>(Symbol.for('sluice.mcpLives@1'))

/** Lifecycle of a call. It ends when its handler has settled, or when the client has cancelled the call. */
export class ToolLife extends RequestLife {
  readonly #signal: AbortSignal | undefined
  #startedAt: number | undefined

  /** Returns the lifecycle of the call that `extra` belongs to. All limits of a call share it. */
  static of(extra: RawExtra): ToolLife {
    const life = lives().get(extra) ?? new ToolLife(signalOf(extra))
    lives().set(extra, life)
    return life
  }

  private constructor(signal: AbortSignal | undefined) {
    super()
    this.#signal = signal
  }

  override get gone(): boolean {
    return this.ended || this.#signal?.aborted === true
  }

  /** Called when the handler has settled; `status`: 200 for a result, 500 for an error. */
  finish(status: number): void {
    this.#end(!this.#signal?.aborted, status)
  }

  protected override listen(): boolean {
    if (this.#startedAt !== undefined) return !this.gone
    this.#startedAt = systemClock.now()
    const signal = this.#signal
    // a call that was cancelled before causes no event; the microtask lets the caller finish first
    if (signal?.aborted) Promise.resolve().then(this.#cancelled)
    else signal?.addEventListener('abort', this.#cancelled, { once: true })
    return !this.gone
  }

  readonly #cancelled = (): void => this.#end(false)

  #end(completed: boolean, status?: number): void {
    if (this.ended) return
    this.#signal?.removeEventListener('abort', this.#cancelled)
    const durationMs = this.#startedAt === undefined ? 0 : systemClock.now() - this.#startedAt
    this.endAs({ completed, durationMs, status })
  }
}
