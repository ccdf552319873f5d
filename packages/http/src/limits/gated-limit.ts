import { isPromise, type MaybePromise, type RequestView } from '@sluice/limiter-core/http'
import { ClientView } from '../client/client-view.ts'
import { TrustedProxies } from '../client/trusted-proxies.ts'
import type { HttpExchange } from '../exchange.ts'
import type { ProxyTrustOption } from '../proxy-trust.ts'
import type { LimiterReport } from '../report/limiter-report.ts'
import type { Admission, HttpLimit } from './http-limit.ts'
import { InHandlerDetector } from './in-handler-detector.ts'

/** Framework-independent part of a limit: a rate gate, a slow-down gate, an in-flight gate or a shed gate. */
interface RequestGate<Req, Check> {
  readonly options: { readonly trust?: ProxyTrustOption | undefined }
  readonly report: LimiterReport
  readonly shownNames: readonly string[]
  /** Returns undefined if the request is not counted. */
  check(view: RequestView<Req>): MaybePromise<Check | undefined>
}

interface GatedLimitOptions {
  /** Whether requests pass without a check. */
  readonly off: boolean
  /** Whether an allowed request holds a permit. Default: false. */
  readonly holds?: boolean | undefined
}

/** Base class of limits on requests. It checks each request once, even if the request meets the limit again. */
export abstract class GatedLimit<Req, Res, Gate extends RequestGate<Req, Check>, Check extends object>
  implements HttpLimit<Req, Res>
{
  readonly gate: Gate
  readonly report: LimiterReport
  readonly #off: boolean
  readonly #holds: boolean
  readonly #proxies: TrustedProxies | undefined
  readonly #detector = new InHandlerDetector()

  constructor(gate: Gate, { off, holds = false }: GatedLimitOptions) {
    this.gate = gate
    const { trust } = gate.options
    this.#proxies = trust === undefined ? undefined : new TrustedProxies(trust)
    this.report = gate.report
    this.#off = off
    this.#holds = holds
  }

  admit(exchange: HttpExchange<Req, Res>): MaybePromise<Admission<Req, Res>> {
    if (this.#off) return 'passed'
    if (this.#detector.isWatching) this.#detector.recordUse(exchange)
    // checked before: the permit of the first check must also wait for this handler
    if (!exchange.life.registerLimiter(this.gate)) return this.#holds ? 'held' : 'passed'
    // the client has left, so no event would release a permit
    if (this.#holds && exchange.life.gone) return 'gone'
    const check = this.check(new ClientView(exchange, this.#proxies), exchange)
    if (isPromise(check)) return check.then((counted) => (counted ? this.toAdmission(counted, exchange) : 'passed'))
    return check ? this.toAdmission(check, exchange, true) : 'passed'
  }

  abstract close(): void

  protected check(view: RequestView<Req>, _exchange: HttpExchange<Req, Res>): MaybePromise<Check | undefined> {
    return this.gate.check(view)
  }

  /** Turns the check of a counted request into an admission. `isSynchronous`: no time has passed since `admit`. */
  protected abstract toAdmission(
    check: Check,
    exchange: HttpExchange<Req, Res>,
    isSynchronous?: boolean,
  ): MaybePromise<Admission<Req, Res>>
}
