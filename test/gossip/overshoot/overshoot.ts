import type { PolicyInput } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import { mostInAny } from '../../sync/most-in-any.ts'
import { GossipFleet } from '../gossip-fleet.ts'
import { limitedReplica } from '../gossip-limits.ts'

export interface GossipLoad {
  readonly nodes: number
  /** Requests, as a multiple of the limit. */
  readonly demand: number
  readonly windows: number
  readonly random: SeededRandom
  readonly policy?: Partial<PolicyInput>
  readonly tickMs?: number
}

export interface GossipAdmitted {
  /** The most admitted in any window, as a multiple of the limit. */
  readonly most: number
  /** Admitted per window, on average over all windows after the first two. */
  readonly steady: number
}

const LIMIT = 6_000
const WINDOW_MS = 60_000

/**
 * Measures what a fleet admits of one key of 6,000 a minute, each request on a random replica: like `admittedOf`,
 * without Redis.
 */
export async function gossipAdmitted({
  nodes,
  demand,
  windows,
  random,
  policy,
  tickMs,
}: GossipLoad): Promise<GossipAdmitted> {
  const fleet = new GossipFleet(random, { delayMs: 2 })
  const input = { name: 'api', limit: LIMIT, window: WINDOW_MS, algorithm: 'sliding-window', ...policy } as PolicyInput
  const options = tickMs === undefined ? { nodes } : { nodes, tickMs }
  const replicas = Array.from({ length: nodes }, () => limitedReplica(fleet, input, options))
  await fleet.run(3_000)
  const admittedAt: number[] = []
  const perMs = (LIMIT * demand) / WINDOW_MS
  let due = 0
  for (let ms = 0; ms < windows * WINDOW_MS; ms += STEP_MS) {
    for (due += perMs * STEP_MS; due >= 1; due--) {
      if (random.pick(replicas).limiter.take('k').allowed) admittedAt.push(ms)
    }
    await fleet.run(STEP_MS)
  }
  const later = admittedAt.filter((at) => at >= 2 * WINDOW_MS).length
  await fleet.stop()
  return { most: mostInAny(admittedAt, WINDOW_MS) / LIMIT, steady: later / LIMIT / (windows - 2) }
}

/** Interval between two steps of the simulation, in ms. */
const STEP_MS = 5
