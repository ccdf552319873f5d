import type { Answer, Backend, MetricSource } from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import { SYNC_OPTIONS, SyncingBackend, type SyncOptions, syncTermsOf } from '@sluice/limiter-core/sync'
import { GossipLedger } from './gossip-ledger.ts'
import { GossipNode } from './gossip-node.ts'
import { GOSSIP_ALGORITHMS } from './slot-cells.ts'

/** Those of `syncedBackend`, but for what a server is needed for. */
export interface GossipBackendOptions extends Omit<SyncOptions, 'silentMs'> {}

/** Made by `gossipBackend`. */
export type GossipBackend = Backend<Answer> & MetricSource

const OPTIONS = SYNC_OPTIONS.filter((name) => name !== 'silentMs')
/** Half of it is as old as what others have heard by gossip. */
const TICK_MS = 250

/**
 * Rate limits of a fleet without a server: each process decides at once, by what it took and what it has heard that the
 * others took. What passes above a limit is what the fleet takes while news go round: see docs/gossip.md for the bound.
 * Parts of a fleet that cannot reach each other count each by itself.
 *
 * `tickMs` is 250 ms by default; the clock is that of `node`. One for each node, for any number of limiters; `close`
 * comes before that of the node.
 *
 * Keeps `fixed-window` and `sliding-window`, windows of 4 ticks and more, which begin together for all keys. Throws
 * `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`; `SLUICE_BAD_POLICY` where a limiter is built of a policy that it cannot keep.
 */
export function gossipBackend(node: GossipNode, options: GossipBackendOptions = {}): GossipBackend {
  if (!(node instanceof GossipNode)) throw badOption('gossipBackend: node', node, 'what createGossip answers')
  const terms = syncTermsOf('gossipBackend', { tickMs: TICK_MS, ...optionsOf('gossipBackend', options, OPTIONS) })
  const ledger = new GossipLedger(node, terms.maxKeys)
  const backend = new SyncingBackend({
    name: 'gossip',
    ledger,
    terms,
    // nobody is asked, so nobody is silent
    rule: { source: 'local' },
    algorithms: GOSSIP_ALGORITHMS,
    clock: node.clock,
  })
  const metrics = backend.metrics.bind(backend)
  return Object.assign(backend, {
    *metrics() {
      yield* metrics()
      yield* ledger.metrics()
    },
  })
}
