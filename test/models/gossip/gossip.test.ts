import { describe, test } from '@jest/globals'
import { decided, type Voter, votesOf } from '../../../packages/gossip/src/counters/fold-votes.ts'
import { expectFound, expectKept } from '../claims.ts'
import { type GOSSIP_RULES, gossipModel } from './gossip.ts'
import { gossipSizes } from './gossip-sizes.ts'

/** Returns voters of which all have reported recently, so that each replica sees a majority. */
function fresh(voters: readonly Voter[]): Voter[] {
  return voters.map((voter) => ({ ...voter, isFresh: true }))
}

/** Returns the replicas for which `self` has voted for itself. */
function ownVotes(self: string, voters: readonly Voter[]): string[] {
  const votes = voters.find(({ name }) => name === self)?.votes
  return voters.flatMap(({ name }) => (name !== self && votes?.get(name)?.folder === self ? [name] : []))
}

const faults: readonly (readonly [string, Partial<typeof GOSSIP_RULES>])[] = [
  [
    'a replica that is cut off declares others gone',
    {
      votes: (self, voters, clockOf) => votesOf(self, fresh(voters), clockOf),
      decided: (self, voters, clockOf) => decided(self, fresh(voters), clockOf),
    },
  ],
  ['a replica takes over without the votes of the others', { decided: ownVotes }],
]

describe('votes of gossip', () => {
  test.each(gossipSizes)('choose one replica that takes over a replica that is gone: %j', (size) => {
    expectKept(`gossip ${JSON.stringify(size)}`, gossipModel(size))
  })

  test.each(faults)('would choose several if %s', (fault, rules) => {
    expectFound(`gossip, if ${fault}`, gossipModel({ replicas: 3, kills: 0, silences: 4 }, rules))
  })
})
