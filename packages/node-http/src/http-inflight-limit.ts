import {
  type CapCheck,
  InflightGate,
  type InflightLimitOptions,
  InHandlerDetector,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  systemClock,
} from '@sluice/limiter-core'
import type { Exchange } from './exchange.ts'
import type { Admission, HttpLimit } from './http-limit.ts'
import { releasePermit } from './release-permit.ts'

/** A cap on requests in progress. */
export class HttpInflightLimit<Req, Res> implements HttpLimit<Req, Res> {
  readonly guard: InflightGate<Req, Res>
  readonly #detector = new InHandlerDetector()

  constructor(guard: InflightGate<Req, Res>) {
    this.guard = guard
  }

  /** From the options of a framework's `inflightLimit`; `adapterOptions` are the names that only this framework has. */
  static of<Req, Res>(
    options: InflightLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpInflightLimit<Req, Res> {
    return new HttpInflightLimit(new InflightGate(options, adapterOptions))
  }

  get holdUntil(): 'response' | 'handler' | undefined {
    return this.guard.options.holdUntil
  }

  get report(): LimiterReport {
    return this.guard.report
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.guard.mode === 'off') return 'passed'
    this.#detector.used()
    // the place that it holds already waits for this handler, too
    if (!exchange.life.meets(this.guard)) return 'held'
    // nobody waits for an answer, and no signal would bring the place back
    if (exchange.life.gone) return 'gone'
    const check = this.guard.check(exchange)
    return isPromise(check)
      ? check.then((settled) => this.#admitted(settled, exchange))
      : this.#admitted(check, exchange)
  }

  close(): void {
    this.guard.limiter.close()
  }

  #admitted(check: CapCheck | undefined, { life }: Exchange<Req, Res>): Admission<Req, Res> {
    if (!check) return 'passed'
    if (check.denial) {
      const shown = { entries: [check.entry], denial: check.denial }
      const { denial = check.denial, lines } = life.shows(this.guard, shown, systemClock.wall)
      return { denial, decision: undefined, lines, answer: this.guard.options, report: this.report }
    }
    if (life.gone) {
      releasePermit(check, 'dropped')
      return 'gone'
    }
    life.hold(check)
    return 'held'
  }
}
