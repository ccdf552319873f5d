import { afterThisTurn } from '@sluice/limiter-core/backend'

/** A long computation in steps of a few milliseconds: between two steps, the event loop may run. */
export type Steps<T> = Generator<undefined, T, undefined>

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
