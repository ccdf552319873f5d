import {
  Birth,
  clockOf,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  type RateCheck,
  RateGuard,
  type RateLimitOptions,
} from '@sluice/limiter-core'
import { writeHeaderLines } from './denial-writer.ts'
import type { Exchange } from './exchange.ts'
import type { Admission, RequestLimit } from './request-limit.ts'

/** A limit of rates on requests. */
export class RequestRate<Req, Res> implements RequestLimit<Req, Res> {
  readonly guard: RateGuard<Req, Res>
  readonly #birth = new Birth()
  readonly #off: boolean
  readonly #wall: () => number

  constructor(guard: RateGuard<Req, Res>) {
    this.guard = guard
    this.#off = guard.off
    const clock = clockOf(guard.options.clock)
    this.#wall = () => clock.wall()
  }

  /** From the options of a framework's `rateLimit`; `adapterOptions` are the names that only this framework has. */
  static of<Req, Res>(
    options: RateLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): RequestRate<Req, Res> {
    return new RequestRate(new RateGuard(options, adapterOptions))
  }

  get report(): LimiterReport {
    return this.guard.report
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.#off) return 'passed'
    this.#birth.used()
    if (!exchange.life.meets(this.guard)) return 'passed'
    const check = this.guard.check(exchange)
    return isPromise(check) ? check.then((come) => this.#admitted(come, exchange)) : this.#admitted(check, exchange)
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
