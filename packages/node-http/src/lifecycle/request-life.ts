import { AsyncResource } from 'node:async_hooks'
import type { SettleContext } from '@sluice/limiter-core'
import { messageOf, type PermitOutcome, RequestRecord, warnOnce } from '@sluice/limiter-core/http'
import { HeldPermits } from './held-permits.ts'
import type { HeldPermit } from './release-permit.ts'

/** How a request ended. */
export type Ending = SettleContext

/** What is held while a request lives, and who is told of its end. How the end shows itself is the subclasses' affair. */
export abstract class RequestLife extends RequestRecord {
  #endings: ((ending: Ending) => void)[] | undefined
  #held: HeldPermits | undefined
  #settling = false
  #ending: Ending | undefined

  /** True when nobody will read an answer any more, so that the handler need not run. */
  abstract get gone(): boolean

  /** Called whenever the end matters to someone: from the first time on, the subclass must see it. */
  protected abstract listen(): void

  protected get ended(): boolean {
    return this.#ending !== undefined
  }

  /** Runs `run` once, when the request is over: answered whole, aborted, or never to be answered. */
  onEnd(run: (ending: Ending) => void): void {
    const bound = AsyncResource.bind(run)
    const ending = this.#ending
    if (ending) guarded(() => bound(ending))
    else this.#endings = [...(this.#endings ?? []), bound]
    this.listen()
  }

  /** Settles what the request took once it is over, by the policies' own `settle`. */
  settleAtEnd(req: unknown, res: unknown): void {
    if (this.#settling) return
    this.#settling = true
    this.onEnd((how) => this.settleAll(req, res, how))
  }

  /** Releases the permit when the request is over and all held work is done. */
  hold(held: HeldPermit): void {
    this.#permits.add(held)
    this.listen()
  }

  /** Keeps permits until `work` settles, or nothing is left that could settle it. */
  override holdUntil(work: PromiseLike<unknown>): void {
    this.#permits.waitFor(Promise.resolve(work))
  }

  /** The first end counts. */
  protected endAs(ending: Ending): void {
    if (this.#ending) return
    this.#ending = ending
    for (const run of this.#endings ?? []) guarded(() => run(ending))
    this.#held?.end(outcomeOf(ending))
  }

  get #permits(): HeldPermits {
    if (this.#held) return this.#held
    this.#held = new HeldPermits()
    if (this.#ending) this.#held.end(outcomeOf(this.#ending))
    return this.#held
  }
}

function outcomeOf({ completed }: Ending): PermitOutcome {
  return completed ? 'success' : 'dropped'
}

/** An ending must reach everyone: one listener that throws must not keep a permit. */
function guarded(run: () => void): void {
  try {
    run()
  } catch (error) {
    warnOnce('SLUICE_HOOK_FAILED', () => `a listener to the end of a response threw: ${messageOf(error)}`, 'onEnd')
  }
}
