import { SYNC_OPTIONS, SyncingBackend, type SyncOptions, syncTermsOf } from '@sluice/fleet/sync'
import type { Answer, Backend, MetricSource } from '@sluice/limiter-core'
import { optionsOf } from '@sluice/limiter-core/backend'
import { checkNode, type GossipNode } from '../node/gossip-node.ts'
import { GossipLedger } from './gossip-ledger.ts'
import { GOSSIP_ALGORITHMS } from './slot-cells.ts'

/** The options of `syncedBackend`, without the ones that only a server needs. */
export interface GossipBackendOptions extends Omit<SyncOptions, 'silentMs'> {}

/** Backend of rate limits over gossip, created by `gossipBackend`. */
export type GossipBackend = Backend<Answer> & MetricSource

const OPTIONS = SYNC_OPTIONS.filter((name) => name !== 'silentMs')
/** Units wait half a tick on average before they are written, about as long as gossip takes to spread them. */
const TICK_MS = 250

/**
 * Creates a backend for rate limits of a fleet without a server. Each process decides immediately, from the units that
 * it took and the units that others have reported. Overshoot: the units that the fleet takes before replicas have
 * exchanged their counts; docs/gossip.md has the bound. Parts of a fleet that cannot reach each other count separately.
 *
 * `tickMs` is 250 ms by default; the clock is that of `node`. Create one backend for each node, for any number of
 * limiters, and close it before the node.
 *
 * Supports `fixed-window` and `sliding-window` with windows of at least 4 ticks, which start at the same time for all
 * keys. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`; creating a limiter throws `SLUICE_BAD_POLICY` for any
 * other policy.
 */
export function gossipBackend(node: GossipNode, options: GossipBackendOptions = {}): GossipBackend {
  checkNode('gossipBackend: node', node)
  const terms = syncTermsOf('gossipBackend', { tickMs: TICK_MS, ...optionsOf('gossipBackend', options, OPTIONS) })
  const ledger = new GossipLedger(node, terms.maxKeys)
  const backend = new SyncingBackend({
    name: 'gossip',
    ledger,
    terms,
    // no server is asked, so none can stop replying
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
