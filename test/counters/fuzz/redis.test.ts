import { expect, test } from '@jest/globals'
import type { CounterTable } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import type { Counters } from '@sluice/fleet/backend'
import { systemClock } from '@sluice/limiter-core/backend'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { CounterFaults } from './counter-faults.ts'
import { CounterHistory } from './counter-history.ts'
import { HeldLedger } from './intercepted-ledger.ts'

const RUNS = 2
const ROUNDS = 3
const STEPS = 60
const WAIT_MS = 150

const redis = redisForTests()

/** The counters of three processes on one Redis and one ledger. */
async function withFleet(
  { random, name }: { readonly random: SeededRandom; readonly name: string },
  run: (fleet: readonly Counters[], ledger: HeldLedger, faults: CounterFaults) => Promise<void>,
): Promise<void> {
  const faults = new CounterFaults({ clock: systemClock, random, mostMs: 2 * WAIT_MS })
  const ledger = new HeldLedger(systemClock, faults)
  const partitions = random.pick([1, 2])
  const clients = Array.from({ length: 3 }, () => redis.server.client())
  const options = { name, ledger, partitions, waitMs: WAIT_MS, flushMs: 20, expireMs: 300 }
  const fleet = clients.map((client) => redisCounters(client, options))
  try {
    await run(fleet, ledger, faults)
  } finally {
    faults.share = 0
    await Promise.allSettled(fleet.map((counters) => counters.close()))
    for (const client of clients) client.disconnect()
  }
}

/**
 * Rounds of random calls. Between rounds Redis restarts, either with everything acknowledged or with an older state.
 */
async function attack(random: SeededRandom, { name, isOlder }: { readonly name: string; readonly isOlder: boolean }) {
  await withFleet({ random, name }, async (fleet, ledger, faults) => {
    const history = new CounterHistory({
      random,
      isPlainSure: false,
      isPlainKept: !isOlder,
      hasResets: true,
      sureReads: isOlder ? 'none' : 'ledger',
    })
    const isQuiet = async (): Promise<boolean> => history.waiting === 0
    for (let round = 0; round < ROUNDS; round++) {
      faults.share = random.pick([0, 0.2, 0.5])
      const savedAt = isOlder ? random.whole(STEPS) : STEPS
      for (let i = 0; i < STEPS; i++) {
        history.step(random.pick(fleet))
        if (i === savedAt) await redis.server.client().call('SAVE')
        if (random.whole(3) === 0) await new Promise<void>((resolve) => systemClock.after(random.whole(4), resolve))
      }
      await eventually(isQuiet, { what: 'an answer to each call' })
      // batches are still in progress
      await (isOlder ? redis.server.kill().then(() => redis.server.start()) : redis.server.restart({ empty: false }))
    }
    faults.share = 0
    for (let i = 0; history.hasOpenTokens && i < 50; i++) {
      history.again(random.pick(fleet))
      await eventually(isQuiet, { what: 'an answer to each token' })
    }
    await eventually(() => settled(fleet), { what: 'a flush' })
    expect(history.failures).toEqual([])
    await agree(history, ledger.plain.open(name), fleet)
  })
}

async function settled(fleet: readonly Counters[]): Promise<boolean> {
  const flushed = await Promise.allSettled(fleet.map((counters) => counters.flush()))
  return flushed.every(({ status }) => status === 'fulfilled')
}

async function agree({ sure, maybe }: CounterHistory, table: CounterTable, fleet: readonly Counters[]): Promise<void> {
  for (const { id, value } of await table.list('', { after: undefined, limit: 10_000 })) {
    for (const counters of fleet) expect([id, (await counters.read(id, { maxAgeMs: 0 })).value]).toEqual([id, value])
    for (const counters of fleet) expect([id, (await counters.read(id)).value]).toEqual([id, value])
    if (id.startsWith('r')) continue
    const least = sure.get(id) ?? 0
    expect([id, value, value >= least && value <= least + (maybe.get(id) ?? 0)]).toEqual([id, value, true])
  }
  const { entries } = await table.read([...sure.keys()])
  for (const { id, value } of entries) expect([id, value >= (sure.get(id) ?? 0)]).toEqual([id, true])
}

test('each acknowledged unit counts once in the ledger, with random faults and repeated Redis restarts', async () => {
  await eachSeed(RUNS, (random, seed) => attack(random, { name: `f${seed}`, isOlder: false }))
}, 600_000)

test('nothing counts twice if Redis restarts with an older state, and units written directly to the ledger count once', async () => {
  await eachSeed(RUNS, (random, seed) => attack(random, { name: `o${seed}`, isOlder: true }))
}, 600_000)
