import type { PageUpdate } from '../page-update.ts'
import { after, now } from './browser-clock.ts'
import { DAY_STEPS, mergedHistory } from './history.ts'

/** `forbidden`: the server answers, but no longer allows this page to read. */
export type ConnectionState = 'connecting' | 'live' | 'disconnected' | 'forbidden'

const RETRY_MS = 2_000

/** The event stream. It reconnects automatically. */
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

  /** The last one, with all of the history that is known. */
  get snapshot(): PageUpdate | undefined {
    return this.#snapshot
  }

  /** Since the last update. */
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
    // the login form is in the place of the page
    if (status === 401) location.reload()
    else if (status === 403) this.#enter('forbidden')
    else this.#open()
  }

  #enter(state: ConnectionState): void {
    this.#state = state
    this.#changed()
  }
}
