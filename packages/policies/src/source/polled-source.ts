import type { PolicySource, WatchOptions } from './policy-source.ts'
import { SerialReads } from './serial-reads.ts'
import { unreadable } from './unreadable.ts'

/** Longest time between two looks at a source that fails, unless the interval itself is longer. */
const MAX_BACKOFF_MS = 60_000

/** A source that reports no changes, so that it must be asked regularly. */
export abstract class PolledSource implements PolicySource {
  abstract readonly name: string
  readonly #reads = new SerialReads()
  #text: string | undefined
  #failures = 0

  read(): Promise<string | undefined> {
    return this.#reads.run(async () => {
      try {
        const text = await this.load()
        this.#failures = 0
        if (text === undefined || text === this.#text) return undefined
        this.#text = text
        return text
      } catch (error) {
        this.#failures++
        throw unreadable(this.name, error)
      }
    })
  }

  /** Calls `changed` at each interval, unless a read is under way. Failed reads double the interval, up to a minute. */
  watch(changed: () => void, { clock, intervalMs }: WatchOptions): () => void {
    let isStopped = false
    const look = (): void => {
      if (this.#reads.pending === 0) changed()
      if (!isStopped) cancel = clock.after(this.#delayMs(intervalMs), look)
    }
    // random, so that processes which start together do not all ask at the same time
    let cancel = clock.after(Math.random() * intervalMs, look)
    return () => {
      isStopped = true
      cancel()
    }
  }

  /** Returns the text, or undefined if it is known to be unchanged. */
  protected abstract load(): Promise<string | undefined>

  #delayMs(intervalMs: number): number {
    return Math.min(intervalMs * 2 ** this.#failures, Math.max(intervalMs, MAX_BACKOFF_MS))
  }
}
