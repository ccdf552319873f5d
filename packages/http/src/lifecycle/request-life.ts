import { inThisContext, messageOf, type PermitOutcome, warnOnce } from '@sluice/limiter-core/http'
import type { HeldPermit } from '../gates/caps/held-permit.ts'
import { FAILED_FROM, type SettleContext } from '../gates/options/cost-source.ts'
import { RequestRecord } from '../record/request-record.ts'
import { HeldPermits } from './held-permits.ts'
import { releasePermit } from './release-permit.ts'

const SETTLED = Promise.resolve()

/** How a request ended. */
export type Ending = SettleContext

/** Permits and callbacks of a request until it ends. Subclasses detect the end. */
export abstract class RequestLife extends RequestRecord {
  #endings: ((ending: Ending) => void)[] | undefined
  #held: HeldPermits | undefined
  #settling = false
  #ending: Ending | undefined

  /** Resolves when the costs have been settled after the end of the request. Never rejects. */
  settled: Promise<unknown> = SETTLED

  /** Whether the request has ended or its client has left, so that the handler need not run. */
  abstract get gone(): boolean

  /**
   * Called each time something depends on the end. The subclass must detect the end from the first call on. Returns
   * false if the request has already ended or its client has left. `isPresent`: the caller has just found that neither
   * is the case.
   */
  protected abstract listen(isPresent?: boolean): boolean

  protected get ended(): boolean {
    return this.#ending !== undefined
  }

  /** Calls `run` once when the request ends: the response was sent completely, was aborted, or can never be sent. */
  onEnd(run: (ending: Ending) => void): void {
    const bound = inThisContext(run)
    const ending = this.#ending
    if (ending) guarded(() => bound(ending))
    else this.#endings = [...(this.#endings ?? []), bound]
    this.listen()
  }

  /** Settles the costs of the request with the `settle` functions of its policies when it ends, or now if it has ended. */
  settleAtEnd(req: unknown, res: unknown): void {
    if (this.#settling && !this.ended) return
    this.#settling = true
    const request = this.reference(req)
    const reply = this.reference(res)
    this.onEnd((how) => {
      this.settled = Promise.all([this.settled, this.settleAll(request(), reply(), how)])
    })
  }

  /** Returns a function that returns the request or the reply of the framework; undefined if it no longer exists. */
  protected reference(target: unknown): () => unknown {
    return () => target
  }

  /**
   * Adds a permit, which is released when the request has ended and all held work has settled. Returns false, after it
   * has released the permit, if the request has already ended or its client has left. `isPresent`: the caller has just
   * found that neither is the case.
   */
  holdPermit(held: HeldPermit, isPresent = false): boolean {
    if (this.listen(isPresent)) {
      this.#permits.add(held)
      return true
    }
    releasePermit(held, 'dropped')
    return false
  }

  /** Keeps permits until `work` settles or can no longer settle. */
  override holdUntil(work: PromiseLike<unknown>): void {
    this.#permits.waitFor(Promise.resolve(work))
  }

  /** Ends the request. Only the first call has an effect. */
  protected endAs(ending: Ending): void {
    if (this.#ending) return
    this.#ending = ending
    for (const run of this.#endings ?? []) guarded(() => run(ending))
    this.#held?.end(outcomeOf(ending), !ending.completed)
  }

  get #permits(): HeldPermits {
    if (this.#held) return this.#held
    this.#held = new HeldPermits()
    if (this.#ending) this.#held.end(outcomeOf(this.#ending), !this.#ending.completed)
    return this.#held
  }
}

function outcomeOf({ completed, status = 0 }: Ending): PermitOutcome {
  return completed && status < FAILED_FROM ? 'success' : 'dropped'
}

/** Runs a callback so that an error in it does not stop other callbacks or the release of permits. */
function guarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    warnOnce('SLUICE_HOOK_FAILED', () => `a callback at the end of a response threw: ${messageOf(error)}`, 'onEnd')
  }
}
