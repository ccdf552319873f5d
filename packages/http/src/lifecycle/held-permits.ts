import type { PermitOutcome } from '@sluice/limiter-core/http'
import type { HeldPermit } from '../gates/caps/held-permit.ts'
import { releasePermit } from './release-permit.ts'
import { whenCollected } from './when-collected.ts'

type Done = () => void

/**
 * The permits of a request. They are released when the request has ended and all work they wait for has settled. Holds
 * no reference to the request, so that work which only the response could settle can be garbage-collected.
 */
export class HeldPermits {
  readonly #permits: HeldPermit[] = []
  // keeps promises alive until the request ends; afterwards only the code that can settle a promise does
  #works: Map<Done, Promise<unknown>> | undefined
  #pending = 0
  #hasWaited = false
  #outcome: PermitOutcome | undefined
  #hasLeft = false

  add(held: HeldPermit): void {
    this.#permits.push(held)
    this.#releaseWhenDone()
  }

  /**
   * Keeps the permits until `work` settles or can no longer settle. A promise that has been garbage-collected can never
   * settle: its work waits for an event that cannot occur, such as the `drain` of an abandoned response.
   */
  waitFor(work: Promise<unknown>): void {
    this.#pending++
    this.#hasWaited = true
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      this.#works?.delete(done)
      this.#pending--
      this.#releaseWhenDone()
    }
    if (this.#outcome) whenCollected(work, done)
    else {
      this.#works ??= new Map()
      this.#works.set(done, work)
    }
    work.then(done, done)
  }

  /** Marks the request as ended. Only the first call has an effect. `hasLeft`: its client left, and work may go on. */
  end(outcome: PermitOutcome, hasLeft = false): void {
    if (this.#outcome) return
    this.#outcome = outcome
    this.#hasLeft = hasLeft
    for (const [done, work] of this.#works ?? []) whenCollected(work, done)
    this.#works = undefined
    this.#releaseWhenDone()
  }

  #releaseWhenDone(): void {
    const outcome = this.#outcome
    if (!outcome || this.#pending > 0) return
    for (const held of this.#permits.splice(0)) {
      const release = (): void => releasePermit(held, outcome)
      // the end of the work is not known, unless it was waited for
      if (this.#hasLeft && !this.#hasWaited && held.afterUsualTime) held.afterUsualTime(release)
      else release()
    }
  }
}
