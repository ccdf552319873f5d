import { FakeClock } from '@sluice/testkit'

/** Stands still; who waits goes on at once, and how long it was to be is kept. */
export class HurriedClock extends FakeClock {
  readonly waits: number[] = []

  override after(ms: number, run: () => void): () => void {
    this.waits.push(ms)
    const pending = setImmediate(run)
    return () => clearImmediate(pending)
  }
}
