import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RequestSluice, systemClock } from '@sluice/limiter-core/http'
import onFinished from 'on-finished'
import { RequestLife } from './request-life.ts'
import { hasConnection, isComplete, isGone, onAbandoned, watchStream } from './response-end.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** What Sluice knows of the request; present behind a limiter. */
    sluice?: RequestSluice
  }
}

/**
 * The life of one response, from the first limiter that meets it to its end. No single signal tells the end of every
 * response: on-finished misses pipelined responses that never got their turn, `close` misses a client who left before
 * anyone listened, and a stalled stream of HTTP/2 has none. Together they miss none, and the first one counts.
 */
export class RequestLifecycle extends RequestLife {
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  #startedAt = 0
  #listening = false
  #forgetCarrier: (() => void) | undefined

  /** The one lifecycle of a response; made when first asked for, and `req.sluice` from then on. */
  static of(req: IncomingMessage, res: ServerResponse): RequestLifecycle {
    const known = req.sluice as RequestLifecycle | undefined
    // not by `instanceof`: two versions of a package may meet in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new RequestLifecycle(req, res)
    if (req.httpVersionMajor >= 2) watchStream(res)
    req.sluice = made
    return made
  }

  private constructor(req: IncomingMessage, res: ServerResponse) {
    super()
    this.#req = req
    this.#res = res
  }

  override get gone(): boolean {
    return this.ended || isGone(this.#req, this.#res)
  }

  protected override listen(): void {
    if (this.#listening) return
    this.#listening = true
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const over = isGone(this.#req, this.#res)
    this.#res.prependListener('close', end)
    this.#forgetCarrier = onAbandoned(this.#req, this.#res, end)
    // last: it puts a property on the response, after which all that Express's has is looked up anew
    if (hasConnection(this.#res)) onFinished(this.#res, end)
    else this.#res.on('finish', end)
    // a client who left before has no signal left to send; the caller's own turn comes first
    if (over) Promise.resolve().then(end)
  }

  #end(): void {
    if (this.ended) return
    this.#forgetCarrier?.()
    this.endAs({ completed: isComplete(this.#req, this.#res), durationMs: systemClock.now() - this.#startedAt })
  }
}
