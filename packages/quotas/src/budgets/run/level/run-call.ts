import type { Hold } from '@sluice/limiter-core'
import { SluiceError } from '@sluice/limiter-core/backend'
import { type Amounts, atLeastNothing, minus, NOTHING, plus } from './run-amounts.ts'
import type { LevelCall, RunLevel } from './run-level.ts'
import type { Denial } from './run-limiter.ts'

/** What a call will use, as far as it is known. */
export interface CallPlan {
  /** Returns what the call uses with so many units of output. Grows with `output`. */
  amountsOf(output: number): Amounts
  /** Units of output to hold at first, and the fewest with which the call makes sense. */
  readonly want: number
  readonly least: number
  /** Units of output by which the hold grows while the output streams; 0 for a call that cannot be cut off. */
  readonly step: number
}

/**
 * A call of a run. It holds its units under all bounds of its budget before it starts, holds more while its output
 * streams, and settles what it has used.
 */
export class RunCall implements LevelCall {
  readonly #level: RunLevel
  readonly #plan: CallPlan
  readonly #controller = new AbortController()
  /** Rejects when the call is aborted. */
  readonly #aborted: Promise<never>
  #reject: (reason: unknown) => void = () => {}
  readonly #forget: () => void
  #hold: Hold | undefined
  #held: Amounts = NOTHING
  #used: Amounts = NOTHING
  #output = 0
  /** Units of output that are held. */
  granted = 0
  #isActive = false
  #ending: Promise<void> | undefined
  /** Whether the call continues beyond a bound, because it may finish. */
  #isUnheld = false
  #stopTimer: (() => void) | undefined
  #aborting: () => void = () => {}

  /**
   * Starts a call as soon as its units are held. It waits while other calls of the run hold units that they may return.
   * Rejects with `SLUICE_BUDGET_EXHAUSTED`, with the reason of `signal`, and with `SLUICE_BACKEND_FAILED`.
   */
  static async open(level: RunLevel, plan: CallPlan, signal?: AbortSignal): Promise<RunCall> {
    signal?.throwIfAborted()
    if (level.end) throw level.end
    const call = new RunCall(level, plan, signal)
    try {
      while (!(await call.#tryBegin())) {
        // the units of another call have returned, or the bound was raised
      }
      // the budget or the caller may have ended while the backend answered
      call.signal.throwIfAborted()
      if (level.end) throw level.end
      call.#count(plan.amountsOf(0))
    } catch (error) {
      await call.end(NOTHING)
      throw error
    }
    call.#renewLater()
    return call
  }

  private constructor(level: RunLevel, plan: CallPlan, signal: AbortSignal | undefined) {
    this.#level = level
    this.#plan = plan
    this.#aborted = new Promise((_resolve, reject) => {
      this.#reject = reject
    })
    // a call that nothing awaits may be aborted
    this.#aborted.catch(() => {})
    const abort = (): void => this.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#forget = () => signal?.removeEventListener('abort', abort)
    level.enter(this)
    this.#setActive(true)
  }

  /** Aborted when the budget ends, or when the caller aborts the call. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the output is counted while it arrives, so that the call can be cut off. */
  get isStreamed(): boolean {
    return this.#plan.step > 0
  }

  /** What the call may use at most with the output that is held. */
  get reserved(): Amounts {
    return this.#plan.amountsOf(this.granted)
  }

  abort(reason: unknown): void {
    if (this.#ending) return
    this.#reject(reason)
    this.#controller.abort(reason)
    this.#aborting()
  }

  /** Sets what runs when the call is aborted, also if nothing awaits its output. */
  onAbort(run: () => void): void {
    this.#aborting = run
    if (this.#controller.signal.aborted) run()
  }

  /** Resolves like `work`, or rejects when the call is aborted. */
  race<T>(work: PromiseLike<T> | T): Promise<T> {
    return Promise.race([this.#aborted, work])
  }

  /** Counts output that was received. Rejects when a bound is reached, or when the call was aborted. */
  async add(output: number): Promise<void> {
    this.#controller.signal.throwIfAborted()
    this.#output += output
    const whole = Math.ceil(this.#output)
    this.#count(this.#plan.amountsOf(whole))
    if (this.#isUnheld) return
    const { isOverdrawn } = this.#level
    if (whole <= this.granted && !isOverdrawn && !this.#level.exceededByStreams()) return
    while (!(await this.#tryExtend(whole))) {
      // the bound was raised, or another process was faster
    }
  }

  /** Settles what the call has used. Default: what was counted so far. Only the first call has an effect. */
  end(actual: Amounts = this.#used): Promise<void> {
    this.#ending ??= this.#settle(actual)
    return this.#ending
  }

  async #settle(actual: Amounts): Promise<void> {
    this.#count(actual)
    this.#addUnused(minus(actual, this.#held))
    this.#stopTimer?.()
    this.#forget()
    try {
      await this.#hold?.settle(this.#level.costs(actual))
    } finally {
      this.#setActive(false)
      this.#level.leave(this)
    }
  }

  /** Sets what the call has used so far. */
  #count(used: Amounts): void {
    const more = minus(used, this.#used)
    this.#used = used
    this.#level.spend(more)
    this.#addUnused(minus(NOTHING, more))
  }

  /** Adds to what is held and not used. */
  #addUnused(more: Amounts): void {
    this.#level.addUnused(more, this.isStreamed)
  }

  /** Holds the first units. Resolves with false if that has to be tried again. */
  async #tryBegin(): Promise<boolean> {
    this.#controller.signal.throwIfAborted()
    const level = this.#level
    if (level.end) throw level.end
    const { least, want } = this.#plan
    const seen = level.run.changes.count
    const exceeded = level.exceeded(this.#plan.amountsOf(least))
    if (exceeded) return this.#reached(exceeded)
    const denied = await this.#tryHold(want)
    // bounds to which no other call will return units
    this.#setActive(false)
    const final = denied.filter((one) => one.level.active === 0)
    const less = final.length > 0 ? this.#fitting(least, want, final) : undefined
    if (final.length > 0 && less === undefined) return this.#reached(final[0])
    const others = less === undefined ? denied : await this.#tryHold(less)
    if (others.length === 0 && !level.isOverdrawn) {
      this.#setActive(true)
      return true
    }
    // a stream that has lost what it had borrowed comes first
    if (others.length === 0) await this.#release()
    const isWaiting = others.length === 0 || others.some((one) => one.level.active > 0)
    if (isWaiting) await this.race(level.run.changes.after(seen))
    return false
  }

  /** Holds more units while output streams. `used`: units of output so far. Resolves with false to try again. */
  async #tryExtend(used: number): Promise<boolean> {
    const exceeded = this.#level.exceededByStreams()
    if (exceeded) return this.#reached(exceeded)
    const least = Math.max(used, this.granted)
    const want = least + this.#plan.step
    const denied = await this.#tryHold(want)
    const less = denied.length > 0 ? this.#fitting(least, want, denied) : undefined
    if (less !== undefined && (await this.#tryHold(less)).length > 0) return false
    // what is not held is covered by what other streams of this process hold, which can be cut off as well
    if (!this.#level.isOverdrawn) return true
    return denied.length > 0 && this.#reached(denied[0])
  }

  /** Called when a bound is reached. Resolves with false if it was raised, and with true if the call may finish. */
  async #reached({ level, kind }: Denial<RunLevel>): Promise<boolean> {
    if (await this.race(level.exhaust(kind))) return false
    this.#controller.signal.throwIfAborted()
    if (!this.#hold) throw this.#level.end
    this.#isUnheld = true
    return true
  }

  /** Holds `output` units of output. Returns the bounds that deny it. */
  async #tryHold(output: number): Promise<readonly Denial<RunLevel>[]> {
    const amounts = this.#plan.amountsOf(output)
    const more = atLeastNothing(minus(amounts, this.#held))
    const hold = this.#hold ?? (await this.#level.hold(more))
    const fits = this.#hold ? await this.#hold.extend(this.#level.costs(more)) : hold.allowed
    if (fits) {
      const wasOverdrawn = this.#level.isOverdrawn
      this.#hold = hold
      this.#held = plus(this.#held, more)
      this.#addUnused(more)
      if (wasOverdrawn && !this.#level.isOverdrawn) this.#level.run.changes.changed()
      this.granted = output
      return []
    }
    // an aborted call may have been settled meanwhile
    this.#controller.signal.throwIfAborted()
    const denied = this.#level.denials(hold)
    if (denied.length > 0 && hold.decision.counted) return denied
    throw new SluiceError('SLUICE_BACKEND_FAILED', `budget '${this.#level.path}': the backend did not answer in time`)
  }

  /** Returns what is held, before the call has started. */
  async #release(): Promise<void> {
    const hold = this.#hold
    this.#addUnused(minus(NOTHING, this.#held))
    this.#hold = undefined
    this.#held = NOTHING
    this.granted = 0
    await hold?.release()
  }

  /** Returns the most units of output, from `least` and below `want`, that fit into what is left. */
  #fitting(least: number, want: number, denied: readonly Denial<RunLevel>[]): number | undefined {
    const fits = (output: number): boolean => {
      const more = minus(this.#plan.amountsOf(output), this.#held)
      return denied.every(({ kind, remaining }) => more[kind] <= remaining)
    }
    if (!fits(least)) return undefined
    let most = least
    let tooMany = want
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2)
      if (fits(middle)) most = middle
      else tooMany = middle
    }
    return most
  }

  #setActive(isActive: boolean): void {
    if (this.#isActive === isActive) return
    this.#isActive = isActive
    this.#level.addActive(isActive ? 1 : -1)
  }

  /** Holds the units again before their time is over. */
  #renewLater(): void {
    const { timers, holdMs } = this.#level.run
    this.#stopTimer = timers.after(holdMs / 2, () => {
      Promise.resolve(this.#hold?.extend(this.#level.costs(NOTHING))).catch(() => {})
      this.#renewLater()
    })
  }
}
