import { type Clock, clockOf } from '@sluice/limiter-core/http'
import { writeHeaderLines } from '../denial/denial-writer.ts'
import type { HttpExchange } from '../exchange.ts'
import type { RateLimitOptions } from '../gates/options/rate-limit-options.ts'
import type { RateCheck } from '../gates/rate-check.ts'
import { RateGate } from '../gates/rate-gate.ts'
import { GatedLimit } from './gated-limit.ts'
import type { Admission } from './http-limit.ts'

/** A limit on request rates. */
export class HttpRateLimit<Req, Res> extends GatedLimit<Req, Res, RateGate<Req, Res>, RateCheck<Req, Res>> {
  readonly #clock: Clock
  readonly #wall: () => number

  constructor(gate: RateGate<Req, Res>) {
    super(gate, { off: gate.isOff })
    this.#clock = clockOf(gate.options.clock)
    this.#wall = () => this.#clock.wall()
  }

  /** Creates a limit from the options of `rateLimit`; `adapterOptions` names the options that the adapter reads. */
  static of<Req, Res>(
    options: RateLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpRateLimit<Req, Res> {
    return new HttpRateLimit(new RateGate(options, adapterOptions))
  }

  override close(): void {
    this.gate.close()
  }

  protected override toAdmission(check: RateCheck<Req, Res>, exchange: HttpExchange<Req, Res>): Admission<Req, Res> {
    const { decision, responseOptions: answer } = check
    const { life } = exchange
    life.recordTaken(check, this.report)
    const { denial, lines } = life.headersFor(this.gate, check, this.#wall)
    if (denial) return { denial, decision, lines, answer, report: this.report }
    writeHeaderLines(exchange, lines)
    if (check.gate.streams) life.extendWhileStreaming(this.#clock, (lastEvent) => exchange.cutOff?.(lastEvent))
    if (check.gate.settles) life.settleAtEnd(exchange.raw, exchange.res)
    return 'passed'
  }
}
