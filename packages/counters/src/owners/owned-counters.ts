import type { Counters } from '@sluice/fleet/backend'
import type { Clock, Observer } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, Observers, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import { OwnerRing } from './owner-ring.ts'
import { type OwnedCounters, RoutedCounters } from './routed-counters.ts'

export interface OwnedCountersOptions {
  /** Name of this node. */
  readonly self: string
  /**
   * Counters of this node. All nodes must use the same ledger; `expireMs: '1s'` limits the age of totals that other
   * nodes wrote.
   */
  readonly local: Counters
  /**
   * Other nodes by name, usually created by `counterClient`. They must serve their `local` counters, which do not
   * forward calls.
   */
  readonly peers: Readonly<Record<string, Counters>>
  /** Time for which a node that did not reply is skipped. Default: 2 s. */
  readonly downMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** Receive `backendFailed` with the `node` that did not reply. */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['self', 'local', 'peers', 'downMs', 'clock', 'observers'] as const

/**
 * Creates counters that assign each id to one owner among several nodes, by consistent hashing of their names (100
 * virtual nodes each). Calls for an id of another node are forwarded to it, in one hop. The value of an id is therefore
 * that of the one node that has all units, including unflushed ones. An owner that does not reply is skipped for
 * `downMs`; meanwhile its ids belong to the next node. A forwarded increment counts once: it has a token, and all nodes
 * use the same ledger.
 *
 * This node applies batches in the ledger, and reads lists and sums from it after all nodes have flushed. A sum lacks
 * what a node that is down has not flushed; `down` has its name.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function ownedCounters(options: OwnedCountersOptions): OwnedCounters {
  const { self, local, peers, downMs = 2_000, clock, observers } = optionsOf('ownedCounters', options, OPTIONS)
  if (typeof self !== 'string' || self === '') throw badOption('ownedCounters: self', self, 'the name of this node')
  const nodes = new Map(Object.entries({ ...peers, [self]: local }))
  if (Object.hasOwn(peers, self)) throw badOption('ownedCounters: peers', peers, 'peers without the name of this node')
  for (const [name, counters] of nodes) {
    if (typeof counters?.incrementMany === 'function') continue
    throw badOption(`ownedCounters: ${name}`, counters, 'counters such as counterClient()')
  }
  const down = parseTimerMs(downMs, 'ownedCounters: downMs')
  const ring = new OwnerRing([...nodes.keys()].sort(), { clock: clockOf(clock), downMs: down })
  return new RoutedCounters({ self, nodes, generatesTokens: true, ring, observers: new Observers(observers) })
}
