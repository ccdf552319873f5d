import type { Clock } from '@sluice/limiter-core'
import { clockOf, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { createParser } from 'eventsource-parser'
import type { LivePage } from './live-page.ts'
import { type LiveUpdate, parseUpdate } from './live-update.ts'
import { PageFailure } from './page-failure.ts'
import { decoded } from './response-body.ts'

/** Longest update, in UTF-16 units. */
const MAX_UPDATE = 16 * 1024 * 1024
/** Time without data after which the connection is closed: twice the longest interval between updates of a page. */
const SILENT_MS = 120_000

export interface StreamOptions {
  readonly address: URL
  readonly clock?: Clock | undefined
  readonly signal: AbortSignal
}

/** Returns the updates of a live page until its stream ends. Rejects with `PageFailure`, also if `signal` is aborted. */
export async function* updatesOf(
  page: LivePage,
  { address, clock, signal }: StreamOptions,
): AsyncGenerator<LiveUpdate> {
  const connection = new WatchedConnection(clockOf(clock))
  const received: string[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: MAX_UPDATE,
    onEvent: ({ data }) => received.push(data),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded'
    },
  })
  try {
    const response = await page.open('stream', 'text/event-stream', AbortSignal.any([signal, connection.signal]))
    for await (const part of withFailures(decoded(response), address, connection)) {
      connection.received()
      parser.feed(part)
      if (isTooLong) throw PageFailure.ofData(address, 'an update that is too long')
      for (const data of received.splice(0)) {
        const update = parseUpdate(data)
        if (update === undefined) throw PageFailure.ofData(address, 'an update of another release')
        yield update
      }
    }
  } finally {
    connection.close()
  }
}

/** Closes a connection that has not received data for a while. */
class WatchedConnection {
  readonly #clock: Clock
  readonly #controller = new AbortController()
  #cancel: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
    this.received()
  }

  /** Aborted when the connection is closed. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  received(): void {
    this.#cancel()
    this.#cancel = this.#clock.after(SILENT_MS, () => this.#controller.abort(), KEEP_ALIVE)
  }

  /** Closes the connection at once: a cancelled response would leave it open for further requests. */
  close(): void {
    this.#cancel()
    this.#controller.abort()
  }
}

async function* withFailures(
  parts: AsyncGenerator<string>,
  address: URL,
  { signal }: WatchedConnection,
): AsyncGenerator<string> {
  try {
    yield* parts
  } catch (error) {
    throw PageFailure.ofConnection(address, signal.aborted ? `no update in ${SILENT_MS} ms` : error)
  }
}
