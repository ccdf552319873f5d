import type { PermitOutcome } from '@sluice/limiter-core'
import type { RunningWork, Work } from './running-work.ts'

/** Weight of the last work in the time that it usually takes. */
const USUAL_WEIGHT = 0.2
/** How much longer work takes than until its client left. */
const UNENDED = 1.5
/** The resolution of clocks: work that takes no time at all would make the quotients of durations undefined. */
const SHORTEST_MS = 0.001

/** The limit of one key, and the work from which it is learned. */
export abstract class KeyLimit {
  /** Time in ms that work usually takes; 0 if none has ended. */
  usualMs = 0
  /** Long work that has ended since the present samples began. */
  protected longEnded = 0

  /** Places that may be held now. */
  abstract readonly current: number
  /** Places that may be held if long work is added. */
  abstract readonly most: number
  /** Mean duration in ms of recent work; 0 if no work has ended. */
  abstract readonly meanMs: number

  /** Resolves when it is known what this process may hold; undefined if it is. */
  opening(): Promise<void> | undefined {
    return undefined
  }

  /** Records how many places are held now that work has begun. */
  began(_places: number): void {}

  /** Records that work found no place. */
  lacked(_places: number): void {}

  /** Ends the use of the limit. */
  leave(): void {}

  /** Takes into account that work has ended. `running`: the work of the key that has not. */
  add({ startedAt, inflight, isLong }: Work, outcome: PermitOutcome, now: number, running: RunningWork): void {
    const heldMs = now - startedAt
    // an early failure does not show a fast service, and a client that leaves shows that its work would take longer
    const isDone = outcome === 'success'
    if (!isLong) this.#learnUsual(heldMs, isDone)
    if (!isDone) return
    // began under a larger limit, so it shows what that one caused
    if (inflight > this.current) return
    // a clock that was set back does not show how long the work took
    if (!(heldMs >= 0 && heldMs <= Number.MAX_SAFE_INTEGER)) return
    const count = this.countAt(now, startedAt)
    // work that lasts longer than all other says nothing about that, unless most work has become so long
    if (count === undefined || (isLong && ++this.longEnded <= count)) return
    this.sampled(Math.max(SHORTEST_MS, heldMs), inflight, now, running)
  }

  /** Returns the number of samples so far; undefined if the work is not one. */
  protected abstract countAt(now: number, startedAt: number): number | undefined

  protected abstract sampled(heldMs: number, inflight: number, now: number, running: RunningWork): void

  #learnUsual(heldMs: number, isDone: boolean): void {
    const ms = isDone ? heldMs : UNENDED * heldMs
    if (!(isDone ? heldMs >= 0 : heldMs > this.usualMs)) return
    this.usualMs += (this.usualMs === 0 ? 1 : USUAL_WEIGHT) * (ms - this.usualMs)
  }
}
