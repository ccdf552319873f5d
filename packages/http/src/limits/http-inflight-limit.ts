import { type MaybePromise, type RequestView, systemClock } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import { type CapCheck, InflightGate } from '../gates/caps/inflight-gate.ts'
import type { InflightLimitOptions } from '../gates/options/inflight-limit-options.ts'
import { GatedLimit } from './gated-limit.ts'
import type { Admission } from './http-limit.ts'

/** A cap on concurrent requests. */
export class HttpInflightLimit<Req, Res> extends GatedLimit<Req, Res, InflightGate<Req, Res>, CapCheck> {
  constructor(gate: InflightGate<Req, Res>) {
    super(gate, { off: gate.mode === 'off', holds: true })
  }

  /** Creates a cap from the options of `inflightLimit`; `adapterOptions` names the options that the adapter reads. */
  static of<Req, Res>(
    options: InflightLimitOptions<Req, Res>,
    adapterOptions: readonly string[] = [],
  ): HttpInflightLimit<Req, Res> {
    return new HttpInflightLimit(new InflightGate(options, adapterOptions))
  }

  get holdUntil(): 'response' | 'handler' | undefined {
    return this.gate.options.holdUntil
  }

  override close(): void {
    this.gate.close()
  }

  /** A client that leaves while its request waits for a place gives up its turn. */
  protected override check(
    view: RequestView<Req>,
    exchange: HttpExchange<Req, Res>,
  ): MaybePromise<CapCheck | undefined> {
    if (!this.gate.waits) return this.gate.check(view)
    const left = new AbortController()
    exchange.life.onEnd(() => left.abort())
    return this.gate.check(view, left.signal)
  }

  protected override toAdmission(
    check: CapCheck,
    { life }: HttpExchange<Req, Res>,
    isSynchronous?: boolean,
  ): Admission<Req, Res> {
    if (check.denial) {
      if (this.gate.waits && life.gone) return 'gone'
      const shown = life.namedApart(this.gate, { entries: [check.entry], denial: check.denial })
      const lines = life.headersFor(shown, systemClock.wall)
      const { denial = check.denial } = shown
      return { denial, decision: undefined, lines, answer: this.gate.options, report: this.report }
    }
    return life.holdPermit(check, isSynchronous) ? 'held' : 'gone'
  }
}
