import { expect, test } from '@jest/globals'
import { createLimiter, type Hold, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import { CounterFaults } from '../../counters/fuzz/counter-faults.ts'
import { TrackedCalls, turn } from '../../counters/fuzz/tracked-calls.ts'
import { FaultyQuotaTable, quotasOnly } from '../faults/faulty-quota-table.ts'
import { DAY_MS, NOVEMBER } from './hold-fleet.ts'

const RUNS = 60
const STEPS = 200
const WAIT_MS = 200
const LIMIT = 500
const MAX_HOLD_MS = 4_000
const NAMES = { policy: 'tokens', scope: 'faults' } as const

/** Processes that hold units of one key, with a database whose calls fail, are late, or are never answered. */
class FaultyHolders {
  readonly clock = new FakeClock({ wallMs: NOVEMBER + DAY_MS })
  readonly calls: TrackedCalls = new TrackedCalls(this.clock)
  readonly faults: CounterFaults
  readonly all: readonly { readonly quotas: Quotas; readonly limiter: Limiter }[]
  readonly rule: 'deny' | 'allow' | 'local'
  readonly #table = new MemoryQuotaTable(() => this.clock.wall())
  readonly #random: SeededRandom
  #open: Hold[] = []
  /** Units of all settlements and allowed takes. */
  spent = 0

  constructor(random: SeededRandom) {
    this.#random = random
    this.faults = new CounterFaults({ clock: this.clock, random, mostMs: 3 * WAIT_MS })
    this.rule = random.pick(['deny', 'allow', 'local'])
    this.all = Array.from({ length: 1 + random.whole(3) }, () => this.join(random.pick([20, 100, 1_000])))
  }

  join(deadlineMs: number): { readonly quotas: Quotas; readonly limiter: Limiter } {
    const { clock, rule } = this
    const quotas = createQuotas(quotasOnly(new FaultyQuotaTable(this.#table, this.faults)), { clock, waitMs: WAIT_MS })
    const policies = [
      quota({ name: NAMES.policy, limit: LIMIT, per: 'month', maxHoldMs: MAX_HOLD_MS, backend: quotas }),
    ]
    const limiter = createLimiter({ policies, clock, scope: NAMES.scope, deadlineMs, onBackendError: rule })
    return { quotas, limiter }
  }

  step(): void {
    const random = this.#random
    const { limiter } = random.pick(this.all)
    const kind = random.whole(100)
    if (kind < 40) this.calls.track(() => this.#hold(limiter))
    else if (kind < 50) this.calls.track(() => this.#take(limiter))
    else if (this.#open.length > 0) this.#useHold(kind, random.pick(this.#open))
  }

  async #hold(limiter: Limiter): Promise<void> {
    const reserve = 1 + this.#random.whole(20)
    const hold = await limiter.hold('k', { reserve, maxMs: 1 + this.#random.whole(MAX_HOLD_MS) })
    if (hold.allowed) this.#open.push(hold)
  }

  async #take(limiter: Limiter): Promise<void> {
    const units = 1 + this.#random.whole(3)
    if ((await limiter.take('k', units)).allowed) this.spent += units
  }

  #useHold(kind: number, hold: Hold): void {
    const units = this.#random.whole(10)
    if (kind < 65) {
      this.calls.track(async () => hold.extend(units))
      return
    }
    this.#open = this.#open.filter((one) => one !== hold)
    // forgotten, as if its process had ended
    if (kind >= 95) return
    this.spent += kind < 75 ? 0 : units
    this.calls.track(async () => (kind < 75 ? hold.release() : hold.settle(units)))
  }
}

async function run(random: SeededRandom): Promise<void> {
  const holders = new FaultyHolders(random)
  const { clock, faults, all } = holders
  for (let i = 0; i < STEPS; i++) {
    holders.step()
    if (random.whole(3) === 0) await turn()
    if (random.whole(3) === 0) clock.advance(random.whole(300))
    if (random.whole(40) === 0) faults.share = random.pick([0, 0.3, 0.6, 1])
  }
  faults.share = 0
  const faultless = clock.now()
  const isOver = (): boolean => holders.calls.waiting === 0 && clock.now() > faultless + 20_000
  await holders.calls.moved(isOver, 'an answer to each call')
  // owed adjustments are sent after the next answer
  for (let second = 0; second < 5; second++) {
    const untilMs = clock.now() + 1_200
    for (const { limiter } of all) await holders.calls.of(Promise.resolve(limiter.peek('k')), 'a peek')
    await holders.calls.moved(() => clock.now() > untilMs, 'the next second')
  }
  for (const { quotas } of all) await holders.calls.of(quotas.close(), 'the end of a process')
  const reader = holders.join(1_000)
  const { used, held, left } = await holders.calls.of(reader.quotas.balance('k', NAMES), 'a balance')
  expect([holders.rule, { used, held, left }]).toEqual([
    holders.rule,
    { used: holders.spent, held: 0, left: LIMIT - holders.spent },
  ])
  await holders.calls.of(reader.quotas.close(), 'the end of the last process')
}

test(
  'each settlement is spent exactly once and each hold returns, whatever happens to database calls',
  () => eachSeed(RUNS, run),
  600_000,
)
