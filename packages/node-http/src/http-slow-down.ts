import {
  AWAITED,
  type Clock,
  clockOf,
  InHandlerDetector,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  type SlowCheck,
  SlowDownGate,
  type SlowDownOptions,
} from '@sluice/limiter-core'
import type { Exchange } from './exchange.ts'
import type { Admission, HttpLimit } from './http-limit.ts'

/** What became of a request that was over, as observers are told. */
type Outcome = 'waits' | 'denied' | 'shadow'

/** A limit of speed on requests: who asks too often waits. */
export class HttpSlowDown<Req, Res> implements HttpLimit<Req, Res> {
  readonly guard: SlowDownGate<Req, Res>
  readonly #clock: Clock
  readonly #detector = new InHandlerDetector()
  /** Lets each request go on that waits. */
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor(guard: SlowDownGate<Req, Res>) {
    this.guard = guard
    this.#clock = clockOf(guard.options.clock)
  }

  /** From the options of a framework's `slowDown`; `adapterOptions` are the names that only this framework has. */
  static of<Req, Res>(
    options: SlowDownOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpSlowDown<Req, Res> {
    return new HttpSlowDown(new SlowDownGate(options, adapterOptions))
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  get report(): LimiterReport {
    return this.guard.report
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.guard.mode === 'off') return 'passed'
    this.#detector.used()
    if (!exchange.life.meets(this.guard)) return 'passed'
    const check = this.guard.check(exchange)
    return isPromise(check)
      ? check.then((settled) => this.#admitted(settled, exchange))
      : this.#admitted(check, exchange)
  }

  /** All go on that wait, and nobody waits any longer. */
  letGo(): void {
    this.#closed = true
    for (const goOn of [...this.#waiting]) goOn()
  }

  close(): void {
    this.letGo()
    this.guard.rate.close()
  }

  #admitted(check: SlowCheck<Req, Res> | undefined, exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (!check) return 'passed'
    const { delayMs, shadow } = check
    const { life } = exchange
    const waits = delayMs > 0 && !shadow && !this.#closed
    if (waits && !life.gone && this.#waiting.size >= this.guard.maxWaiting) return this.#refused(check)
    life.took(check, this.report, true)
    if (check.guard.settles) life.settleAtEnd(exchange.raw, exchange.res)
    if (!waits) {
      if (delayMs > 0 && shadow) this.#tell(check, 'shadow')
      return 'passed'
    }
    if (life.gone) return 'gone'
    this.#tell(check, 'waits')
    return this.#delayed(delayMs, exchange)
  }

  #refused(check: SlowCheck<Req, Res>): Admission<Req, Res> {
    this.guard.forget(check)
    this.#tell(check, 'denied')
    const denial = this.guard.denial(check.delayMs)
    return { denial, decision: undefined, lines: [], answer: this.guard.options, report: this.report }
  }

  #tell({ keys: [key], delayMs }: SlowCheck<Req, Res>, outcome: Outcome): void {
    const { rate, name } = this.guard
    if (rate.observers.any) rate.observers.event('slowed', { policy: name, key, delayMs, outcome })
  }

  #delayed(delayMs: number, { life, outgoing }: Exchange<Req, Res>): Promise<Admission<Req, Res>> {
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined
      const done = (admission: Admission<Req, Res>): void => {
        cancel?.()
        this.#waiting.delete(goOn)
        resolve(admission)
      }
      // an answer that something else gave meanwhile leaves nothing to do for what follows
      const goOn = (): void => done(life.gone || outgoing.writableEnded ? 'gone' : 'passed')
      this.#waiting.add(goOn)
      // a clock of the user's may not wait at all, and some return nothing to cancel
      cancel = this.#clock.after(delayMs, goOn, AWAITED)
      life.onEnd(() => done('gone'))
    })
  }
}
