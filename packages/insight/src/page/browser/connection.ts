import type { PageUpdate } from '../page-update.ts'
import { after, now } from './dom/browser-clock.ts'
import { DAY_STEPS, mergedHistory } from './dom/history.ts'
import { mergedTimeline } from './dom/timeline.ts'

/** `forbidden`: the server responds, but no longer allows access. */
export type ConnectionState = 'connecting' | 'live' | 'disconnected' | 'forbidden'

const RETRY_MS = 2_000

/** Connection to the stream of updates. Reconnects automatically. */
export class Connection {
  readonly #changed: () => void
  #state: ConnectionState = 'connecting'
  #snapshot: PageUpdate | undefined
  #lastAt = now()

  constructor(changed: () => void) {
    this.#changed = changed
    this.#open()
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** The last update, with all history received so far. */
  get snapshot(): PageUpdate | undefined {
    return this.#snapshot
  }

  /** Time since the last update, in ms. */
  get silentMs(): number {
    return now() - this.#lastAt
  }

  #open(): void {
    const source = new EventSource('stream')
    source.onmessage = ({ data }) => this.#update(JSON.parse(data) as PageUpdate)
    source.onerror = () => this.#failed(source)
  }

  #update(update: PageUpdate): void {
    this.#snapshot = {
      ...update,
      history: mergedHistory(this.#snapshot?.history, update.history),
      timeline: mergedTimeline(this.#snapshot?.timeline, update.timeline),
      day: mergedHistory(this.#snapshot?.day, update.day, DAY_STEPS),
    }
    this.#lastAt = now()
    this.#enter('live')
  }

  #failed(source: EventSource): void {
    this.#enter('disconnected')
    // browsers reconnect after a network error, but not after a response that is not a stream
    if (source.readyState !== EventSource.CLOSED) return
    after(RETRY_MS, () => void this.#ask())
  }

  async #ask(): Promise<void> {
    const status = await fetch('stream', { method: 'HEAD' }).then(
      (response) => response.status,
      () => 0,
    )
    // the server shows the login form instead of the page
    if (status === 401) location.reload()
    else if (status === 403) this.#enter('forbidden')
    else this.#open()
  }

  #enter(state: ConnectionState): void {
    this.#state = state
    this.#changed()
  }
}
