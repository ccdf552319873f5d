import type { Bench } from './bench.ts'
import { during, type FaultTimes } from './fleet.ts'

/** A fault: Redis stands still for so many ms (SIGSTOP), and keeps all that it has. */
export function stopped(ms: number): (bench: Bench) => Promise<FaultTimes> {
  return ({ redis }) =>
    during(
      ms,
      () => redis.pause(),
      () => redis.resume(),
    )
}
