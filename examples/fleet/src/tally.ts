/** What became of the traffic, a row for each second. */
export class Tally {
  readonly #limit: number
  readonly #admitted: { readonly sentAt: number; readonly endedAt: number }[] = []
  #sent = 0
  #failed = 0
  #since = { redis: 0, local: 0, denied: 0, slowestMs: 0 }

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Sends what is due after `elapsedMs`, whatever became of what was sent before. */
  due(elapsedMs: number, aSecond: number, ask: (request: number) => Promise<void>): void {
    for (; this.#sent < (elapsedMs * aSecond) / 1_000; this.#sent++) ask(this.#sent).catch(() => this.#failed++)
  }

  /** `sentAt` and `endedAt`: when the request went out, and when its answer was there. */
  answered(status: number, source: string, sentAt: number, endedAt: number): void {
    const tookMs = endedAt - sentAt
    this.#since.slowestMs = Math.max(this.#since.slowestMs, tookMs)
    if (status === 429) this.#since.denied++
    else if (status !== 200) this.#failed++
    else {
      this.#admitted.push({ sentAt, endedAt })
      this.#since[source === 'redis' ? 'redis' : 'local']++
    }
  }

  /** The second that has passed. */
  row(second: number, redisAlive: boolean): string {
    const { redis, local, denied, slowestMs } = this.#since
    this.#since = { redis: 0, local: 0, denied: 0, slowestMs: 0 }
    return [
      `${String(second).padStart(3)} s`,
      redisAlive ? 'Redis up  ' : 'Redis down',
      `admitted ${String(redis + local).padStart(3)} (${String(redis).padStart(3)} by Redis, ${String(local).padStart(3)} by shares)`,
      `denied ${String(denied).padStart(3)}`,
      `slowest answer ${slowestMs.toFixed(0).padStart(3)} ms`,
    ].join('   ')
  }

  get kept(): boolean {
    return this.#failed === 0 && this.most() <= this.#limit
  }

  /** The most that was sent, admitted and answered within any second: whenever each was decided, it was within it. */
  most(): number {
    const within = (from: number): number =>
      this.#admitted.filter(({ sentAt, endedAt }) => sentAt >= from && endedAt < from + 1_000).length
    return this.#admitted.reduce((most, { sentAt }) => Math.max(most, within(sentAt)), 0)
  }

  verdict(): string {
    return `The most in any second: ${this.most()} of ${this.#limit}. Answers that were no answer: ${this.#failed}.`
  }
}
