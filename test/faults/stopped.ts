import { during, type FaultTimes } from './fleet.ts'
import type { StoreBench } from './stores/store-server.ts'

/** A fault: the server is paused (SIGSTOP) for the given number of milliseconds and keeps its data. */
export function stopped(ms: number): (bench: Pick<StoreBench, 'server'>) => Promise<FaultTimes> {
  return ({ server }) =>
    during(
      ms,
      () => server.pause(),
      () => server.resume(),
    )
}
