import { FakeClock } from '@sluice/testkit'

/** How long a backend may take, unless said. */
const DEADLINE_MS = 50

/** Stands still; who waits goes on at once, and how long it was to be is kept. Backends have all the time they want. */
export class HurriedClock extends FakeClock {
  readonly waits: number[] = []

  override after(ms: number, run: () => void): () => void {
    if (ms === DEADLINE_MS) return super.after(ms, run)
    this.waits.push(ms)
    const pending = setImmediate(run)
    return () => clearImmediate(pending)
  }
}
