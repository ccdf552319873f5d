import type { Clock, Counters, Observer } from '@sluice/limiter-core'
import { badOption, clockOf, type Duration, Observers, optionsOf, parseTimerMs } from '@sluice/limiter-core/backend'
import { OwnerRing } from './owner-ring.ts'
import { type OwnedCounters, RoutedCounters } from './routed-counters.ts'

export interface OwnedCountersOptions {
  /** The name of this node. */
  readonly self: string
  /** What this node counts. All nodes have one ledger; `expireMs: '1s'` bounds how old a total is that another node wrote. */
  readonly local: Counters
  /** The other nodes by name, mostly made by `counterClient`: what they count themselves, and not what they forward. */
  readonly peers: Readonly<Record<string, Counters>>
  /** How long a node that gave no answer is left out. Default: 2 s. */
  readonly downMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /** They hear `backendFailed` with the `node` that gave no answer. */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['self', 'local', 'peers', 'downMs', 'clock', 'observers'] as const

/**
 * Counters of which each id has one owner among the nodes, by consistent hashing of their names (100 virtual nodes each):
 * what this node does not own it asks of the owner, in one hop. So a value is that of the one node that has all units, the
 * unflushed ones too. An owner that gives no answer is left out for `downMs`; its ids belong to the next node meanwhile. An
 * increment that was sent on counts once: it has a token, and all nodes have one ledger.
 *
 * Batches, and sums after all nodes flushed, are made by this node in the ledger. A sum lacks what a node that is down has
 * not flushed: `down` names it.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function ownedCounters(options: OwnedCountersOptions): OwnedCounters {
  const { self, local, peers, downMs = 2_000, clock, observers } = optionsOf('ownedCounters', options, OPTIONS)
  if (typeof self !== 'string' || self === '') throw badOption('ownedCounters: self', self, 'the name of this node')
  const nodes = new Map(Object.entries({ ...peers, [self]: local }))
  if (Object.hasOwn(peers, self)) throw badOption('ownedCounters: peers', peers, 'none with the name of this node')
  for (const [name, counters] of nodes) {
    if (typeof counters?.incrementMany === 'function') continue
    throw badOption(`ownedCounters: ${name}`, counters, 'counters, as counterClient makes them')
  }
  const down = parseTimerMs(downMs, 'ownedCounters: downMs')
  const ring = new OwnerRing([...nodes.keys()].sort(), { clock: clockOf(clock), downMs: down })
  return new RoutedCounters({ self, nodes, givesTokens: true, ring, observers: new Observers(observers) })
}
