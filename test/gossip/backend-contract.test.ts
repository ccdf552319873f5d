import { describe, test } from '@jest/globals'
import { createGossip, gossipBackend } from '@sluice/gossip'
import { backendContract } from '@sluice/testkit'

describe('gossipBackend on a single node', () => {
  backendContract(
    { describe, test },
    (clock) => gossipBackend(createGossip({ peers: [], clock }), { burst: 1, nodes: 1 }),
    // the windows of all keys begin together: `backend-model.test.ts` models this
    { ownModels: true },
  )
})
