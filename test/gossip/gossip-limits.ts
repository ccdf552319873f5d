import { type GossipBackend, type GossipBackendOptions, type GossipNode, gossipBackend } from '@sluice/gossip'
import {
  createLimiter,
  type Decision,
  type Limiter,
  type PolicyInput,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import type { GossipFleet } from './gossip-fleet.ts'

/** A replica with a limiter that shares its limit through gossip. */
export interface LimitedReplica {
  readonly node: GossipNode
  readonly backend: GossipBackend
  readonly limiter: Limiter<Decision>
}

export function limitedReplica(
  fleet: GossipFleet,
  policy: PolicyInput,
  options: GossipBackendOptions = {},
): LimitedReplica {
  const node = fleet.start()
  const backend = gossipBackend(node, options)
  const policies = [{ ...policy, backend }]
  const limiter = createLimiter({ policies, clock: fleet.clock, scope: 'default' } as SyncLimiterOptions)
  return { node, backend, limiter }
}
