import type { Promised } from './mode.ts'

interface Admitted {
  readonly sentAt: number
  readonly endedAt: number
}

/** Results of one second. */
interface Second {
  /** Number of admitted requests by process. */
  readonly sources: Map<string, number>
  denied: number
  slowestMs: number
}

/** Results of the traffic, one row per second. */
export class Tally {
  readonly #limit: number
  readonly #windowMs: number
  readonly #admitted: Admitted[] = []
  #sent = 0
  /** Numbers of failed requests by reason. */
  readonly #failed = new Map<string, number>()
  #second: Second = emptySecond()
  /** Times before and after the restart of Redis, between which it was empty. */
  #restart: { readonly from: number; readonly to: number } | undefined

  constructor(limit: number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  /** Sends the requests due after `elapsedMs`, without waiting for earlier ones. */
  due(elapsedMs: number, aSecond: number, ask: (request: number) => Promise<void>): void {
    for (; this.#sent < (elapsedMs * aSecond) / 1_000; this.#sent++)
      ask(this.#sent).catch((error) => this.#failedFor(error.cause?.code ?? error.message))
  }

  /** `sentAt` and `endedAt`: when the request was sent, and when its response arrived. */
  answered(status: number, source: string, sentAt: number, endedAt: number): void {
    const { sources } = this.#second
    this.#second.slowestMs = Math.max(this.#second.slowestMs, endedAt - sentAt)
    if (status === 429) this.#second.denied++
    else if (status !== 200) this.#failedFor(`status ${status}`)
    else {
      this.#admitted.push({ sentAt, endedAt })
      sources.set(source, (sources.get(source) ?? 0) + 1)
    }
  }

  /** Records that Redis was restarted empty between these times. */
  restarted(from: number, to: number): void {
    this.#restart = { from, to }
  }

  /** Formats the row of the past second. */
  row(second: number, redisAlive: boolean): string {
    const { sources, denied, slowestMs } = this.#second
    this.#second = emptySecond()
    const since = performance.now() - this.#windowMs
    const last = this.#admitted.filter(({ endedAt }) => endedAt >= since).length
    const by = [...sources].map(([source, count]) => `${count} by ${source}`).join(', ')
    return [
      `${String(second).padStart(3)} s`,
      redisAlive ? 'Redis up  ' : 'Redis down',
      `admitted / limit ${(last / this.#limit).toFixed(2)}`,
      `last second ${by || '0'}, ${denied} denied`.padEnd(46),
      `slowest response ${slowestMs.toFixed(0).padStart(3)} ms`,
    ].join('   ')
  }

  kept({ always, aroundRestart }: Promised): boolean {
    const { undisturbed, most } = this.#most()
    return this.#failed.size === 0 && undisturbed <= always && most <= aroundRestart
  }

  verdict({ always, aroundRestart }: Promised): string {
    const { undisturbed, most } = this.#most()
    return [
      `Failed requests: ${[...this.#failed].map(([reason, count]) => `${count} (${reason})`).join(', ') || 0}.`,
      `Most admitted in a window without a restart of Redis, divided by the limit: ${undisturbed.toFixed(3)} (promised: ${always}).`,
      `Most admitted in any window of ${this.#windowMs / 1_000} s, divided by the limit: ${most.toFixed(3)} (promised: ${aroundRestart}).`,
    ].join('\n')
  }

  #failedFor(reason: string): void {
    this.#failed.set(reason, (this.#failed.get(reason) ?? 0) + 1)
  }

  /**
   * Maximum sent, admitted and answered within one window, as a multiple of the limit: whenever each was decided, it
   * was within it.
   */
  #most(): { readonly undisturbed: number; readonly most: number } {
    let undisturbed = 0
    let most = 0
    for (const { sentAt: from } of this.#admitted) {
      const to = from + this.#windowMs
      const part = this.#admitted.filter(({ sentAt, endedAt }) => sentAt >= from && endedAt < to).length / this.#limit
      most = Math.max(most, part)
      if (!this.#restart || to <= this.#restart.from || from >= this.#restart.to) {
        undisturbed = Math.max(undisturbed, part)
      }
    }
    return { undisturbed, most }
  }
}

function emptySecond(): Second {
  return { sources: new Map(), denied: 0, slowestMs: 0 }
}
