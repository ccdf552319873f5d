import type { PolicyInput } from '@sluice/limiter-core'
import type { SyncOptions } from '@sluice/limiter-core/sync'
import { type SeededRandom, SyncedFleet } from '@sluice/testkit'

export interface Load {
  readonly nodes: number
  readonly limit: number
  readonly windowMs: number
  /** Requests, as a multiple of the limit. */
  readonly demand: number
  readonly windows: number
  readonly random: SeededRandom
  readonly sync?: SyncOptions
  readonly policy?: Partial<PolicyInput>
}

export interface Admitted {
  /** In the first window, as a part of the limit. */
  readonly first: number
  /** A window, on average of those after the first two. */
  readonly steady: number
  /** The most in any window. */
  readonly most: number
  readonly exchangesASecond: number
  readonly sentUnits: number
  readonly fleet: SyncedFleet
}

/** What a fleet admits of one key, each request at a node of its own choice. */
export async function admittedOf({
  nodes,
  limit,
  windowMs,
  demand,
  windows,
  random,
  sync,
  policy,
}: Load): Promise<Admitted> {
  const fleet = new SyncedFleet({
    nodes,
    random,
    network: { delayMs: 1 },
    policy: { name: 'api', limit, window: windowMs, ...policy } as PolicyInput,
    ...(sync ? { sync } : {}),
  })
  const admittedAt: number[] = []
  const startedAt = fleet.clock.now()
  const perMs = (limit * demand) / windowMs
  let due = 0
  for (let ms = 0; ms < windows * windowMs; ms++) {
    for (due += perMs; due >= 1; due--) {
      const { limiter } = fleet.nodes[random.whole(nodes)]
      if (limiter.take('k').allowed) admittedAt.push(ms)
    }
    await fleet.pass(1)
  }
  const first = admittedAt.filter((at) => at < windowMs).length / limit
  const later = admittedAt.filter((at) => at >= 2 * windowMs).length
  const seconds = (fleet.clock.now() - startedAt) / 1_000
  return {
    first,
    steady: later / limit / (windows - 2),
    most: mostInAny(admittedAt, windowMs) / limit,
    exchangesASecond: fleet.exchanges / seconds / nodes,
    sentUnits: admittedAt.length,
    fleet,
  }
}

function mostInAny(times: readonly number[], windowMs: number): number {
  let most = 0
  for (let end = 0, start = 0; end < times.length; end++) {
    while (times[end] - times[start] >= windowMs) start++
    most = Math.max(most, end - start + 1)
  }
  return most
}
