import {
  clockOf,
  InHandlerDetector,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  type RateCheck,
  RateGate,
  type RateLimitOptions,
} from '@sluice/limiter-core'
import { writeHeaderLines } from './denial-writer.ts'
import type { Exchange } from './exchange.ts'
import type { Admission, HttpLimit } from './http-limit.ts'

/** A limit of rates on requests. */
export class HttpRateLimit<Req, Res> implements HttpLimit<Req, Res> {
  readonly guard: RateGate<Req, Res>
  readonly #detector = new InHandlerDetector()
  readonly #off: boolean
  readonly #wall: () => number

  constructor(guard: RateGate<Req, Res>) {
    this.guard = guard
    this.#off = guard.off
    const clock = clockOf(guard.options.clock)
    this.#wall = () => clock.wall()
  }

  /** From the options of a framework's `rateLimit`; `adapterOptions` are the names that only this framework has. */
  static of<Req, Res>(
    options: RateLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpRateLimit<Req, Res> {
    return new HttpRateLimit(new RateGate(options, adapterOptions))
  }

  get report(): LimiterReport {
    return this.guard.report
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.#off) return 'passed'
    this.#detector.used()
    if (!exchange.life.meets(this.guard)) return 'passed'
    const check = this.guard.check(exchange)
    return isPromise(check)
      ? check.then((settled) => this.#admitted(settled, exchange))
      : this.#admitted(check, exchange)
  }

  close(): void {
    this.guard.close()
  }

  #admitted(check: RateCheck<Req, Res> | undefined, exchange: Exchange<Req, Res>): Admission<Req, Res> {
    if (!check) return 'passed'
    const { decision, guard, answer } = check
    const { life } = exchange
    life.took(check, this.report)
    const { denial, lines } = life.shows(this.guard, check, this.#wall)
    if (denial) return { denial, decision, lines, answer, report: this.report }
    writeHeaderLines(exchange, lines)
    if (guard.settles) life.settleAtEnd(exchange.raw, exchange.res)
    return 'passed'
  }
}
