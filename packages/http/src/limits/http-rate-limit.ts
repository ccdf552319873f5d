import { banCallsEnded, type Clock, clockOf } from '@sluice/limiter-core/http'
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
  #unsettled = 0
  #idle: (() => void)[] = []

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

  /**
   * Resolves when no request whose cost is settled at its end is running, all costs have been settled, and the bans of
   * denied requests have been written.
   */
  async idle(): Promise<void> {
    if (this.#unsettled > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
    await banCallsEnded()
  }

  override close(): void {
    this.gate.close()
  }

  protected override toAdmission(check: RateCheck<Req, Res>, exchange: HttpExchange<Req, Res>): Admission<Req, Res> {
    const { decision, responseOptions: answer } = check
    const { life } = exchange
    life.recordTaken(check, this.report)
    const shown = life.namedApart(this.gate, check)
    const lines = life.headersFor(shown, this.#wall)
    const { denial } = shown
    if (denial) return { denial, decision, lines, answer, report: this.report }
    writeHeaderLines(exchange, lines)
    if (check.gate.streams) life.extendWhileStreaming(this.#clock, exchange.cutOff)
    if (check.gate.settles) this.#settleAtEnd(exchange)
    return 'passed'
  }

  #settleAtEnd({ life, raw, res }: HttpExchange<Req, Res>): void {
    life.settleAtEnd(raw, res)
    this.#unsettled++
    life.onEnd(() => {
      void life.settled.then(() => {
        if (--this.#unsettled === 0) for (const resolve of this.#idle.splice(0)) resolve()
      })
    })
  }
}
