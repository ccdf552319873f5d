import type { PermitOutcome } from '@sluice/limiter-core'
import { type HeldPermit, releasePermit } from './release-permit.ts'

type Done = () => void

/**
 * A promise that was collected as garbage is pending for ever: its work waits for what cannot come any more, such as
 * the `drain` of a response that was abandoned. That work is over.
 */
const collected = new FinalizationRegistry<Done>((done) => done())

/**
 * The permits of a request: released once the request is over and all work that they wait for is done. Refers to
 * nothing of the request, so that work which only its response could settle may be collected.
 */
export class HeldPermits {
  readonly #permits: HeldPermit[] = []
  // until the end; from then on only what can still settle a promise keeps it alive
  #works: Map<Done, Promise<unknown>> | undefined
  #pending = 0
  #outcome: PermitOutcome | undefined

  add(held: HeldPermit): void {
    this.#permits.push(held)
    this.#releaseWhenDone()
  }

  /** Keeps the permits until `work` settles, or never can. */
  waitFor(work: Promise<unknown>): void {
    this.#pending++
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      this.#works?.delete(done)
      this.#pending--
      this.#releaseWhenDone()
    }
    if (this.#outcome) collected.register(work, done)
    else {
      this.#works ??= new Map()
      this.#works.set(done, work)
    }
    work.then(done, done)
  }

  /** The request is over. */
  end(outcome: PermitOutcome): void {
    this.#outcome = outcome
    for (const [done, work] of this.#works ?? []) collected.register(work, done)
    this.#works = undefined
    this.#releaseWhenDone()
  }

  #releaseWhenDone(): void {
    if (!this.#outcome || this.#pending > 0) return
    for (const held of this.#permits.splice(0)) releasePermit(held, this.#outcome)
  }
}
