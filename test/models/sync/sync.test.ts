import { describe, expect, test } from '@jest/globals'
import { expectFound, expectKept, statesOf } from '../claims.ts'
import { explore } from '../explorer.ts'
import { syncModel } from './sync.ts'
import { expectedOfSync, SyncCode } from './sync-code.ts'
import type { SYNC_RULES } from './sync-rules.ts'
import { syncSizes } from './sync-sizes.ts'
import type { SyncSize, SyncState } from './sync-state.ts'

const small: SyncSize = { processes: 2, limit: 2, losses: 1, kills: 0, faults: 1 }

const faults: readonly (readonly [string, Partial<typeof SYNC_RULES>, SyncSize])[] = [
  ['a batch is acknowledged before it is written', { losesWrites: true }, small],
  ['a repeated batch is counted again', { isNew: () => true }, small],
  ['a repeated batch has a new number', { numberAgain: (number) => number + 1 }, small],
  ['a reply replaces unreported units', { adopted: (counted) => counted }, small],
  ['a loss is not noticed', { isLost: () => false }, small],
  ['the ledger loses counts and keeps numbers', { lastAfterLoss: (last) => last }, small],
  ['reported usage includes unreported units', { reported: ({ used }) => used }, small],
  [
    'usage that several processes report is added up',
    { missing: ({ used }) => used },
    { ...small, limit: 1, faults: 0 },
  ],
]

describe('the protocol of the sync ledger', () => {
  test.each(syncSizes)('counts each unit once, and keeps what a process knows: %j', (size) => {
    expectKept(`sync ${JSON.stringify(size)}`, syncModel(size))
  })

  test.each(faults)('would be violated if %s', (fault, rules, size) => {
    expectFound(`sync, if ${fault}`, syncModel(size, rules))
  })
})

test('the code of synced limits answers as the model on the way to its states', async () => {
  const model = syncModel(small)
  const traces: (readonly string[])[] = []
  let states = 0
  const visited = (_: SyncState, traceOf: () => readonly string[]): void => {
    if (++states % 100 === 0) traces.push(traceOf())
  }
  explore(model, { mostStates: 15_000, visited })
  for (const trace of traces) {
    const after = statesOf(model, trace)
    const code = new SyncCode(small)
    for (const [at, event] of trace.entries()) {
      const numbers = await code.apply(event, after[at + 1])
      const events = trace.slice(0, at + 1)
      expect([events, numbers]).toEqual([events, expectedOfSync(after[at + 1], small.limit)])
    }
  }
  process.stdout.write(`the code followed ${traces.length} traces\n`)
})
