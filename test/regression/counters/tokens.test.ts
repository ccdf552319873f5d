import { expect, test } from '@jest/globals'
import { createCounters, MemoryLedger } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'

const MAX_TOKENS = 1_000_000
const AT_ONCE = 10_000

test('a ledger in memory that has too many tokens rejects further ones, and counts everything else', async () => {
  const clock = new FakeClock()
  const ledger = new MemoryLedger(clock)
  const table = ledger.open('default')
  for (let number = 1; number <= MAX_TOKENS / AT_ONCE; number++) {
    const groups = Array.from({ length: AT_ONCE }, (_, n) => ({
      token: { token: `${number}/${n}`, body: '' },
      ageMs: 0,
      amounts: new Map(),
    }))
    await table.apply({ writer: 'other', number, deltas: [], groups })
  }
  const counters = createCounters({ ledger, clock })
  await counters.increment('a', 1)
  await expect(counters.increment('b', 1, { token: 'new' })).rejects.toMatchObject({ code: 'SLUICE_COUNTERS_FULL' })
  await counters.increment('c', 1, { durable: true })
  expect((await counters.readMany('')).map(({ id, value }) => [id, value])).toEqual([
    ['a', 1],
    ['c', 1],
  ])
  await counters.close()
})
