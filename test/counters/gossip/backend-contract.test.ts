import { describe, test } from '@jest/globals'
import { createGossip, gossipBackend } from '@sluice/counters/gossip'
import { backendContract } from '@sluice/testkit'

describe('gossipBackend alone on its node', () => {
  backendContract(
    { describe, test },
    (clock) => gossipBackend(createGossip({ peers: [], clock }), { burst: 1, nodes: 1 }),
    // the windows of all keys begin together: `backend-model.test.ts` has the model of that
    { ownModels: true },
  )
})
