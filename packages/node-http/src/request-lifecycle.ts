import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  messageOf,
  type Permit,
  RequestRecord,
  type RequestSluice,
  type SettleContext,
  systemClock,
  warnOnce,
} from '@sluice/limiter-core'
import onFinished from 'on-finished'
import { carrierOf, isComplete, isGone, onCarrierClose } from './response-end.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** What Sluice knows of the request; present behind a limiter. */
    sluice?: RequestSluice
  }
}

/** How a response ended. */
export type Ending = SettleContext

/**
 * The life of one response, from the first limiter that meets it to its end. No single signal tells the end of every
 * response: on-finished misses pipelined responses that never got their turn, `close` misses a client who left before
 * anyone listened. Together they miss none, and the first one counts.
 */
export class RequestLifecycle extends RequestRecord {
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  #startedAt = 0
  #endings: ((ending: Ending) => void)[] | undefined
  #permits: Permit[] | undefined
  #holds = 0
  #listening = false
  #settling = false
  #forgetCarrier: (() => void) | undefined
  #ending: Ending | undefined

  /** The one lifecycle of a response; made when first asked for, and `req.sluice` from then on. */
  static of(req: IncomingMessage, res: ServerResponse): RequestLifecycle {
    const known = req.sluice as RequestLifecycle | undefined
    // not by `instanceof`: an ESM and a CommonJS copy may meet in one process
    if (typeof known?.settleAtEnd === 'function') return known
    const made = new RequestLifecycle(req, res)
    req.sluice = made
    return made
  }

  private constructor(req: IncomingMessage, res: ServerResponse) {
    super()
    this.#req = req
    this.#res = res
  }

  /** True when nobody will read a response any more, so that its handler need not run. */
  get gone(): boolean {
    return this.#ending !== undefined || isGone(this.#req, this.#res)
  }

  /** Runs `run` once, when the response is over: sent whole, aborted, or never to be sent. */
  onEnd(run: (ending: Ending) => void): void {
    const bound = AsyncResource.bind(run)
    const ending = this.#ending
    if (ending) guarded(() => bound(ending))
    else this.#endings = [...(this.#endings ?? []), bound]
    this.#listen()
  }

  /** Settles what the request took once the response is over, by the policies' own `settle`. */
  settleAtEnd(req: unknown, res: unknown): void {
    if (this.#settling) return
    this.#settling = true
    this.onEnd((how) => this.settleAll(req, res, how))
  }

  /** Releases the permit when the response is over and all held work is done. */
  hold(permit: Permit): void {
    this.#permits = [...(this.#permits ?? []), permit]
    this.#listen()
    this.#releaseWhenDone()
  }

  /** Keeps permits until `work` settles. */
  override holdUntil(work: PromiseLike<unknown>): void {
    this.#holds++
    const done = (): void => {
      this.#holds--
      this.#releaseWhenDone()
    }
    Promise.resolve(work).then(done, done)
  }

  #listen(): void {
    if (this.#listening) return
    this.#listening = true
    this.#startedAt = systemClock.now()
    const end = (): void => this.#end()
    const over = isGone(this.#req, this.#res)
    onFinished(this.#res, end)
    this.#res.prependOnceListener('close', end)
    const carrier = carrierOf(this.#req, this.#res)
    if (carrier) this.#forgetCarrier = onCarrierClose(carrier, end)
    // a client who left before has no signal left to send; the caller's own turn comes first
    if (over) Promise.resolve().then(end)
  }

  #end(): void {
    if (this.#ending) return
    this.#forgetCarrier?.()
    const ending = { completed: isComplete(this.#req, this.#res), durationMs: systemClock.now() - this.#startedAt }
    this.#ending = ending
    for (const run of this.#endings ?? []) guarded(() => run(ending))
    this.#releaseWhenDone()
  }

  #releaseWhenDone(): void {
    if (!this.#ending || this.#holds > 0) return
    const permits = this.#permits ?? []
    this.#permits = undefined
    for (const permit of permits) {
      guarded(() => permit.release(this.#ending?.completed ? 'success' : 'dropped'))
    }
  }
}

/** An ending must reach everyone: one listener that throws must not keep a permit. */
function guarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    warnOnce('SLUICE_HOOK_FAILED', () => `a listener to the end of a response threw: ${messageOf(error)}`, 'onEnd')
  }
}
