import type { Bench } from './bench.ts'
import { during, type FaultTimes } from './fleet.ts'

/** A fault: Redis is paused (SIGSTOP) for the given number of milliseconds and keeps its data. */
export function stopped(ms: number): (bench: Bench) => Promise<FaultTimes> {
  return ({ redis }) =>
    during(
      ms,
      () => redis.pause(),
      () => redis.resume(),
    )
}
