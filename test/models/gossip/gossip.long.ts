import { test } from '@jest/globals'
import { expectKept } from '../claims.ts'
import { gossipModel } from './gossip.ts'
import { longGossipSizes } from './gossip-sizes.ts'

test.each(longGossipSizes)('votes of gossip choose one replica that takes over a replica that is gone: %j', (size) => {
  expectKept(`gossip ${JSON.stringify(size)}`, gossipModel(size), { maxStates: 5_000_000 })
})
