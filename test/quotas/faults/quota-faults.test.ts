import { expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { CounterFaults } from '../../counters/fuzz/counter-faults.ts'
import { TrackedCalls, turn } from '../../counters/fuzz/tracked-calls.ts'
import { FaultyQuotaTable, quotasOnly } from './faulty-quota-table.ts'

const RUNS = 60
const STEPS = 200
const WAIT_MS = 200
const KEYS = ['a', 'b'] as const
const NAMES = { policy: 'calls', scope: 'faults' } as const
const NOVEMBER = Date.UTC(2026, 10, 1)

type Rule = 'deny' | 'allow' | 'local'

interface Process {
  readonly quotas: Quotas
  readonly limiter: Limiter
}

/** Processes with one database whose calls fail, are late, or are never answered, before or after they take effect. */
class FaultyFleet {
  readonly clock = new FakeClock({ wallMs: NOVEMBER + 86_400_000 })
  readonly calls: TrackedCalls = new TrackedCalls(this.clock)
  readonly table = new MemoryQuotaTable(() => this.clock.wall())
  readonly faults: CounterFaults
  readonly processes: readonly Process[]
  readonly limit: number
  readonly rule: Rule
  /** Units of allowed takes, by key. */
  readonly allowed = new Map<string, number>()
  /** Calls with a token, which are repeated until they are acknowledged. */
  readonly once = new Map<string, (quotas: Quotas) => Promise<unknown>>()
  #topUps = 0
  readonly #posted = new Set<string>()

  constructor(random: SeededRandom) {
    this.faults = new CounterFaults({ clock: this.clock, random, mostMs: 3 * WAIT_MS })
    this.limit = random.pick([20, 79, 500])
    this.rule = random.pick(['deny', 'allow', 'local'])
    this.processes = Array.from({ length: 1 + random.whole(3) }, () => this.join(random.pick([20, 100, 1_000])))
  }

  join(deadlineMs: number): Process {
    const { clock, limit, rule } = this
    const table = new FaultyQuotaTable(this.table, this.faults)
    const quotas = createQuotas(quotasOnly(table), { clock, waitMs: WAIT_MS })
    const policies = [quota({ name: 'calls', limit, per: 'month', backend: quotas })]
    const { scope } = NAMES
    return { quotas, limiter: createLimiter({ policies, clock, scope, deadlineMs, onBackendError: rule }) }
  }

  take({ limiter }: Process, key: string, cost: number): void {
    this.calls.track(async () => {
      const { allowed } = await limiter.take(key, cost)
      if (allowed) this.allowed.set(key, (this.allowed.get(key) ?? 0) + cost)
    })
  }

  /** Makes a call with a token. If its result is unknown, the call is repeated at the end. */
  doOnce({ quotas }: Process, token: string, call: (quotas: Quotas) => Promise<unknown>): void {
    this.once.set(token, call)
    this.calls.track(async () => {
      await call(quotas)
      this.once.delete(token)
    })
  }

  topUp(process: Process, token: string): void {
    this.#topUps++
    this.doOnce(process, token, (quotas) => quotas.topUp('topped', 3, { token, ...NAMES }))
  }

  post(process: Process, id: string): void {
    this.doOnce(process, id, async (quotas) => {
      if (await reservedAndPosted(quotas, id)) this.#posted.add(id)
    })
  }

  posted(key: string): number {
    return key === 'reserved' ? 2 * this.#posted.size : 0
  }

  toppedUp(key: string): number {
    return key === 'topped' ? 3 * this.#topUps : 0
  }
}

function step(fleet: FaultyFleet, random: SeededRandom, number: number): void {
  const process = random.pick(fleet.processes)
  const kind = random.whole(100)
  const token = `token-${number}`
  if (kind < 80) fleet.take(process, random.pick(KEYS), 1 + random.whole(3))
  else if (kind < 88) fleet.topUp(process, token)
  else if (kind < 94) fleet.take(process, 'topped', 1)
  else fleet.post(process, token)
}

/** Returns false if the reservation did not fit. */
async function reservedAndPosted(quotas: Quotas, id: string): Promise<boolean> {
  try {
    const reservation = await quotas.reserve('reserved', 2, { id, ttlMs: '7d', ...NAMES })
    if (!reservation) return false
  } catch (error) {
    // it was already posted
    if ((error as { code?: string }).code !== 'SLUICE_TOKEN_REUSED') throw error
  }
  await quotas.post('reserved', id, NAMES)
  return true
}

async function run(random: SeededRandom): Promise<void> {
  const fleet = new FaultyFleet(random)
  const { clock, faults, processes } = fleet
  for (let i = 0; i < STEPS; i++) {
    step(fleet, random, i)
    if (random.whole(3) === 0) await turn()
    if (random.whole(3) === 0) clock.advance(random.whole(300))
    if (random.whole(40) === 0) faults.share = random.pick([0, 0.3, 0.6, 1])
  }
  faults.share = 0
  const faultless = clock.now()
  await fleet.calls.moved(() => fleet.calls.waiting === 0 && clock.now() > faultless + 20_000, 'an answer to each call')
  for (const [token, call] of fleet.once) await fleet.calls.of(call(random.pick(processes).quotas), token)
  for (const { quotas } of processes) await fleet.calls.of(quotas.close(), 'the end of a process')
  const reader = fleet.join(1_000)
  for (const key of [...KEYS, 'topped', 'reserved']) await check(fleet, reader.quotas, key)
  await fleet.calls.of(reader.quotas.close(), 'the end of the last process')
  expect(clock.pending).toBe(0)
}

async function check(fleet: FaultyFleet, quotas: Quotas, key: string): Promise<void> {
  const balance = await fleet.calls.of(quotas.balance(key, NAMES), 'a balance')
  const range = { from: NOVEMBER, to: NOVEMBER + 30 * 86_400_000, by: 'month', ...NAMES } as const
  const [usage] = await fleet.calls.of(quotas.usage(key, range), 'its usage')
  const { included, toppedUp, topUpLeft, used, stranded, onLease, reserved, left } = balance
  const expected = (fleet.allowed.get(key) ?? 0) + fleet.posted(key)
  expect([key, { used, stranded, onLease, reserved }]).toEqual([
    key,
    { used: expected, stranded: 0, onLease: 0, reserved: 0 },
  ])
  expect([key, usage?.used ?? 0, usage?.stranded ?? 0]).toEqual([key, used, stranded])
  expect([key, toppedUp + topUpLeft]).toEqual([key, fleet.toppedUp(key)])
  expect(left).toBe(included + toppedUp + topUpLeft - used)
  if (fleet.rule === 'deny') expect([key, left >= 0]).toEqual([key, true])
}

test('each allowed unit is charged exactly once, whatever happens to database calls', async () => {
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
