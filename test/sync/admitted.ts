import type { SyncOptions } from '@sluice/fleet/sync'
import type { PolicyInput } from '@sluice/limiter-core'
import { type SeededRandom, SyncedFleet } from '@sluice/testkit'
import { mostInAny } from './most-in-any.ts'

export interface Load {
  readonly nodes: number
  readonly limit: number
  readonly windowMs: number
  /** Request rate in multiples of the limit. */
  readonly demand: number
  readonly windows: number
  readonly random: SeededRandom
  readonly sync?: SyncOptions
  readonly policy?: Partial<PolicyInput>
  /**
   * Node that receives each request. Default: a random node. `hopping`: all requests to one node, a different one each
   * second.
   */
  readonly way?: 'spread' | 'hopping'
  /** All requests of a second arrive within this many milliseconds. Default: evenly spread. */
  readonly burstMs?: number
  /** One request arrives this many milliseconds before all others. */
  readonly idleMs?: number
  /** Interval in milliseconds since the start during which the ledger cannot be reached. */
  readonly cut?: { readonly from: number; readonly to: number }
}

export interface Admitted {
  /** Admitted in the first window, in multiples of the limit. */
  readonly first: number
  /** Average admitted in a window, without the first two windows. */
  readonly steady: number
  /** Maximum admitted in any window. */
  readonly most: number
  readonly exchangesASecond: number
  readonly sentUnits: number
  readonly fleet: SyncedFleet
}

/** Simulates how many takes of one key a fleet admits, each request at a random node. */
export async function admittedOf({
  nodes,
  limit,
  windowMs,
  demand,
  windows,
  random,
  sync,
  policy,
  way = 'spread',
  burstMs = 1_000,
  idleMs = 0,
  cut = { from: 0, to: 0 },
}: Load): Promise<Admitted> {
  const fleet = new SyncedFleet({
    nodes,
    random,
    network: { delayMs: 1 },
    policy: { name: 'api', limit, window: windowMs, ...policy } as PolicyInput,
    ...(sync ? { sync } : {}),
  })
  const admittedAt: number[] = []
  if (idleMs > 0) fleet.nodes[0].limiter.take('k')
  await fleet.pass(idleMs)
  const startedAt = fleet.clock.now()
  const perMs = ((limit * demand) / windowMs) * (1_000 / burstMs)
  let due = 0
  for (let ms = 0; ms < windows * windowMs; ms++) {
    fleet.isCut = ms >= cut.from && ms < cut.to
    if (ms % 1_000 < burstMs) due += perMs
    for (; due >= 1; due--) {
      const { limiter } = fleet.nodes[way === 'spread' ? random.whole(nodes) : Math.floor(ms / 1_000) % nodes]
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
