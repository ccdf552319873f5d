import { afterThisTurn } from '@sluice/limiter-core/backend'

/** A long computation in steps of a few milliseconds: between two steps, the event loop may run. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Elements of which a step touches the memory. */
const STEP_ELEMENTS = 2 ** 18

/**
 * Writes zeros to new memory. The first access to each page of memory takes microseconds, and random accesses would
 * reach all pages in one step: 100 ms for 40 MB.
 */
export function* touched<T extends Uint8Array | Uint32Array>(memory: T): Steps<T> {
  for (let at = 0; at < memory.length; at += STEP_ELEMENTS) {
    memory.fill(0, at, at + STEP_ELEMENTS)
    yield
  }
  return memory
}

/** Runs all steps at once. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Runs one step in each turn of the event loop. */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await new Promise<void>(afterThisTurn)
  }
}
