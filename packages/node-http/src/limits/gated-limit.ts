import {
  InHandlerDetector,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  type RequestView,
} from '@sluice/limiter-core/http'
import type { Exchange } from '../exchange/exchange.ts'
import type { Admission, HttpLimit } from './http-limit.ts'

/** What decides over requests: a gate of rates, of speed or of requests in progress. */
interface RequestGate<Req, Check> {
  readonly report: LimiterReport
  readonly shownNames: readonly string[]
  /** Undefined for a request that is not counted. */
  check(view: RequestView<Req>): MaybePromise<Check | undefined>
}

interface GatedLimitOptions {
  /** Requests pass unseen. */
  readonly off: boolean
  /** A request that passes holds a permit. Default: false. */
  readonly holds?: boolean
}

/** A limit on requests whose gate is asked once for each of them. */
export abstract class GatedLimit<Req, Res, Gate extends RequestGate<Req, Check>, Check extends object>
  implements HttpLimit<Req, Res>
{
  readonly gate: Gate
  readonly report: LimiterReport
  readonly #off: boolean
  readonly #holds: boolean
  readonly #detector = new InHandlerDetector()

  constructor(gate: Gate, { off, holds = false }: GatedLimitOptions) {
    this.gate = gate
    this.report = gate.report
    this.#off = off
    this.#holds = holds
  }

  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.#off) return 'passed'
    if (this.#detector.isNew) this.#detector.used()
    // the permit that it holds already waits for this handler, too
    if (!exchange.life.meets(this.gate)) return this.#holds ? 'held' : 'passed'
    // nobody waits for an answer, and no signal would bring the permit back
    if (this.#holds && exchange.life.gone) return 'gone'
    const check = this.gate.check(exchange)
    if (isPromise(check)) return check.then((counted) => (counted ? this.admitted(counted, exchange) : 'passed'))
    return check ? this.admitted(check, exchange) : 'passed'
  }

  abstract close(): void

  /** What becomes of a request that was counted. */
  protected abstract admitted(check: Check, exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>>
}
