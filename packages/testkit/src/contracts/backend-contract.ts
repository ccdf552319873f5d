import { algorithms, type Backend, type Clock, type MaybePromise } from '@sluice/limiter-core'
import { FakeClock } from '../fake-clock.ts'
import { eachSeed } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'
import { type BackendBench, backendClaims, START_MS } from './backend-claims.ts'
import { equalsReference } from './backend-history.ts'

/**
 * A new backend, empty as far as the contract can see, that reads time from `clock` alone: also one whose server has
 * the time, by the seam that its tests use. The contract moves the clock and never waits.
 */
export type MakeBackend = (clock: Clock) => MaybePromise<Backend>

const RUNS = 12

/**
 * What every backend keeps, whether it answers at once or later. Runs with the test functions of your runner, against
 * reference models that know no backend.
 */
export function backendContract({ describe, test }: TestRunner, makeBackend: MakeBackend): void {
  const onBench = async (run: (bench: BackendBench) => Promise<void>): Promise<void> => {
    const clock = new FakeClock({ nowMs: START_MS })
    const backend = await makeBackend(clock)
    try {
      await run({ backend, clock })
    } finally {
      await backend.close?.()
    }
  }

  describe('keeps the backend contract', () => {
    for (const name of Object.keys(algorithms) as (keyof typeof algorithms)[]) {
      test(`answers as the reference models do: ${name}, several policies and keys, advisory ones among them`, () =>
        eachSeed(RUNS, (random) => onBench(({ backend, clock }) => equalsReference(name, backend, clock, random))))
    }
    for (const [name, run] of Object.entries(backendClaims)) test(name, () => onBench(run))
  })
}
