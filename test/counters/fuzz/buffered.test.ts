import { expect, test } from '@jest/globals'
import { type CounterLedger, createCounters } from '@sluice/counters'
import { afterThisTurn, type Clock } from '@sluice/limiter-core/backend'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { CounterFaults } from './counter-faults.ts'
import { CounterHistory } from './counter-history.ts'
import { HeldLedger } from './intercepted-ledger.ts'

const RUNS = 40
const STEPS = 150
const WAIT_MS = 200

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

function countersOf(random: SeededRandom, ledger: CounterLedger, clock: Clock) {
  const [maxBatch, maxWaiting, maxEntries] = [
    random.pick([1, 2, 3, 100]),
    random.pick([5, 8, 1_000]),
    random.pick([1, 2, 5, 1_000]),
  ]
  return createCounters({
    ledger,
    clock,
    waitMs: WAIT_MS,
    flushMs: 50,
    expireMs: 300,
    maxBatch,
    maxWaiting,
    maxEntries,
  })
}

async function moved(clock: FakeClock, until: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 3_000; i++) {
    if (until()) return
    await turn()
    clock.advance(10)
  }
  throw new Error(`${what} did not come about`)
}

async function run(random: SeededRandom): Promise<void> {
  const clock = new FakeClock()
  const faults = new CounterFaults({ clock, random, mostMs: 3 * WAIT_MS })
  const ledger = new HeldLedger(clock, faults)
  const fleet = Array.from({ length: 1 + random.whole(3) }, () => countersOf(random, ledger, clock))
  const history = new CounterHistory({
    random,
    isPlainSure: true,
    isPlainKept: true,
    hasResets: true,
    sureReads: fleet.length === 1 ? 'all' : 'none',
  })
  for (let i = 0; i < STEPS; i++) {
    history.step(random.pick(fleet))
    if (random.whole(3) === 0) await turn()
    if (random.whole(3) === 0) clock.advance(random.whole(60))
    if (random.whole(40) === 0) faults.share = random.pick([0, 0.3, 0.6, 1])
  }
  faults.share = 0
  // delayed calls have been answered too
  await moved(clock, () => history.waiting === 0 && clock.now() > 10_000, 'an answer to each call')
  for (let i = 0; history.hasOpenTokens; i++) {
    if (i > 200) throw new Error('tokens that are still rejected')
    history.again(random.pick(fleet))
    await moved(clock, () => history.waiting === 0, 'an answer to each token')
  }
  let isFlushed = false
  const flushed = Promise.all(fleet.map((counters) => counters.flush())).then(() => {
    isFlushed = true
  })
  await moved(clock, () => isFlushed, 'the last flush')
  await flushed
  expect(history.failures).toEqual([])
  await agree(history, ledger, fleet)
  let isClosed = false
  const closed = Promise.all(fleet.map((counters) => counters.close())).then(() => {
    isClosed = true
  })
  await moved(clock, () => isClosed && clock.pending === 0, 'all timers to finish')
  await closed
}

async function agree(
  { sure, maybe }: CounterHistory,
  ledger: HeldLedger,
  fleet: readonly ReturnType<typeof createCounters>[],
): Promise<void> {
  const kept = await ledger.plain.open('default').list('', { after: undefined, limit: 10_000 })
  for (const { id, value } of kept) {
    for (const counters of fleet) expect([id, (await counters.read(id, { maxAgeMs: 0 })).value]).toEqual([id, value])
    const own = await Promise.all(fleet.map((counters) => counters.read(id)))
    expect([id, ...own.map((reading) => reading.value)]).toEqual([id, ...own.map(() => value)])
  }
  const values = new Map(kept.map(({ id, value }) => [id, value]))
  for (const [id, amount] of sure) expect([id, values.get(id) ?? 0]).toEqual([id, amount])
  for (const [id, amount] of maybe)
    expect([id, [0, amount]]).toEqual([id, expect.arrayContaining([values.get(id) ?? 0])])
  const known = new Set([...sure.keys(), ...maybe.keys(), 'r0', 'r1'])
  expect(kept.filter(({ id }) => !known.has(id))).toEqual([])
}

test('each acknowledged unit counts once in the ledger, and every call is answered, under random faults of the ledger', async () => {
  const lost: unknown[] = []
  const onLost = (error: unknown): void => void lost.push(error)
  process.on('unhandledRejection', onLost)
  try {
    await eachSeed(RUNS, run)
    await turn()
    expect(lost).toEqual([])
  } finally {
    process.off('unhandledRejection', onLost)
  }
}, 600_000)
