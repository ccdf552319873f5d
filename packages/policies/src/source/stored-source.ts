import { type Clock, clockOf, Deadlines, type Duration, KEEP_ALIVE, parseTimerMs } from '@sluice/limiter-core/backend'
import { parseDocument } from '../parse/parse-document.ts'
import type { WritablePolicySource } from './policy-source.ts'
import { PolledSource } from './polled-source.ts'

/** Settings of a source in a database. */
export interface StoredSourceOptions {
  /** Longest time for a call of the database. Default: 5 s. */
  readonly timeoutMs?: Duration | undefined
  /** Clock for the time-out. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

const DEFAULT_TIMEOUT_MS = 5_000

/** A document in a database. Each call of the database ends in time, because clients may wait forever. */
export abstract class StoredSource extends PolledSource implements WritablePolicySource {
  readonly #timeoutMs: number
  readonly #deadlines: Deadlines

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. `owner` is the start of the message. */
  constructor(owner: string, options: StoredSourceOptions) {
    super()
    const { timeoutMs = DEFAULT_TIMEOUT_MS, clock } = options
    this.#timeoutMs = parseTimerMs(timeoutMs, `${owner}: timeoutMs`)
    this.#deadlines = new Deadlines(clockOf(clock), this.#timeoutMs, KEEP_ALIVE)
  }

  async publish(text: string): Promise<number> {
    parseDocument(text, this.name)
    return this.store(text)
  }

  /** Stores a valid document, and returns its version. */
  protected abstract store(text: string): Promise<number>

  protected inTime<T>(call: Promise<T>): Promise<T> {
    return this.#deadlines.race<T, T>(call, {
      answered: (value) => value,
      failed: (error) => {
        throw error
      },
      late: () => {
        throw new Error(`no reply within ${this.#timeoutMs} ms`)
      },
    })
  }
}
