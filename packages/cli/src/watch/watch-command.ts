import type { Clock } from '@sluice/limiter-core'
import { clockOf, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { LivePage } from '../live/live-page.ts'
import type { LiveUpdate } from '../live/live-update.ts'
import { pageAddress } from '../live/page-address.ts'
import { PageFailure } from '../live/page-failure.ts'
import { tokenOf } from '../live/page-token.ts'
import { updatesOf } from '../live/update-stream.ts'
import { CommandFailure, EXIT } from '../terminal/exit-code.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { Interruption } from './interruption.ts'
import type { Viewer } from './viewer.ts'
import { type ViewerOptions, viewerOf } from './viewers.ts'

export interface WatchCommandOptions extends ViewerOptions {
  readonly token?: string
}

/** Times between attempts to reconnect, in ms. The last one repeats. */
const RETRY_MS = [500, 1_000, 2_000, 5_000] as const

/** Shows the updates of a live page until it is interrupted, or one update with `once`. */
export async function watchCommand(url: string, options: WatchCommandOptions, terminal: Terminal): Promise<number> {
  const address = pageAddress(url)
  const { clock } = terminal
  const page = new LivePage({ address, token: tokenOf(options.token, terminal.env), clock })
  const interruption = new Interruption(terminal.signal)
  const viewer = viewerOf(address, options, terminal)
  const { signal } = interruption
  const open = (): AsyncGenerator<LiveUpdate> => updatesOf(page, { address, clock, signal })
  try {
    return await new Watch(open, viewer, { isOnce: options.once === true, signal, clock: clockOf(clock) }).run()
  } finally {
    viewer.close()
    interruption.close()
  }
}

interface WatchParts {
  readonly isOnce: boolean
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Follows a live page, also across restarts of its server. */
class Watch {
  readonly #open: () => AsyncGenerator<LiveUpdate>
  readonly #viewer: Viewer
  readonly #parts: WatchParts
  /** Whether the page has sent an update. Before, a failure is probably a wrong address. */
  #hasUpdate = false
  #failures = 0

  constructor(open: () => AsyncGenerator<LiveUpdate>, viewer: Viewer, parts: WatchParts) {
    this.#open = open
    this.#viewer = viewer
    this.#parts = parts
  }

  /** Returns the exit code. Rejects with `PageFailure` if the page cannot be followed. */
  async run(): Promise<number> {
    const { isOnce, signal } = this.#parts
    while (!signal.aborted) {
      const reason = await this.#follow()
      if (signal.aborted || (isOnce && this.#hasUpdate)) break
      this.#viewer.lost(reason)
      await this.#pause(RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1])
    }
    return EXIT.ok
  }

  /** Shows updates until the stream ends, and returns why it ended. */
  async #follow(): Promise<string> {
    const { isOnce, signal } = this.#parts
    this.#failures++
    try {
      for await (const update of this.#open()) {
        this.#hasUpdate = true
        this.#failures = 1
        this.#viewer.show(update)
        if (isOnce || signal.aborted) break
      }
      if (this.#hasUpdate) return 'the server has closed the stream'
      throw new CommandFailure(EXIT.unavailable, 'the server has closed the stream without an update')
    } catch (error) {
      const isTemporary = error instanceof PageFailure && error.isTemporary
      if (!signal.aborted && !(isTemporary && this.#hasUpdate && !isOnce)) throw error
      return (error as Error).message
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal, clock } = this.#parts
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = clock.after(ms, end, KEEP_ALIVE)
      signal.addEventListener('abort', end)
    })
  }
}
