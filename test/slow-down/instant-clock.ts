import { FakeClock } from '@sluice/testkit'

/** Default timeout of a backend. */
const DEADLINE_MS = 50

/** A stopped clock on which waits end at once and their lengths are recorded. Backend timeouts never expire. */
export class HurriedClock extends FakeClock {
  readonly waits: number[] = []

  override after(ms: number, run: () => void): () => void {
    if (ms === DEADLINE_MS) return super.after(ms, run)
    this.waits.push(ms)
    const pending = setImmediate(run)
    return () => clearImmediate(pending)
  }
}
