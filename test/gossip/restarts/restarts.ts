import type { SeededRandom } from '@sluice/testkit'
import { CountingFleet } from '../agreement/counting-fleet.ts'

export interface Restarts {
  readonly counted: number
  readonly value: number
  readonly entries: number
  /** Measured per restart: bytes that all replicas sent meanwhile, and the run time. */
  readonly costs: readonly { readonly bytes: number; readonly ms: number }[]
}

/** Replaces replicas one after the other, every second one by a kill, while all count. */
export async function restarted(
  { replicas, restarts }: { readonly replicas: number; readonly restarts: number },
  random: SeededRandom,
): Promise<Restarts> {
  const fleet = new CountingFleet(random, {}, 1_000)
  for (let n = 0; n < replicas; n++) fleet.start()
  await fleet.net.run(2_000, 100)
  let counted = 0
  const costs: { bytes: number; ms: number }[] = []
  for (let n = 0; n < restarts; n++) {
    const [bytes, startedAt] = [fleet.net.bytes, performance.now()]
    const replica = fleet.replicas[random.whole(fleet.replicas.length)]
    await replica.counters.increment('a', n % 7)
    counted += n % 7
    await fleet.net.run(1_500, 100)
    if (n % 2 === 0) fleet.kill(replica)
    else await fleet.leave(replica)
    fleet.start()
    costs.push({ bytes: fleet.net.bytes - bytes, ms: performance.now() - startedAt })
  }
  await fleet.agreed(new Map([['a', counted]]), 10_000)
  await fleet.net.run(10_000, 100)
  const [value] = await fleet.values('a')
  const entries = fleet.entries('a')
  await fleet.net.stop()
  return { counted, value, entries, costs }
}
