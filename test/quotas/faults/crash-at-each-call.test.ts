import { describe, expect, test } from '@jest/globals'
import type { Limiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { Quotas } from '@sluice/quotas'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { MemoryQuotaTable } from '../../../packages/counters/src/ledger/memory-quota-table.ts'
import type { AccountChange, QuotaTable } from '../../../packages/counters/src/ledger/quota-table.ts'
import { type Death, MortalProcess, NAMES } from './mortal-process.ts'

const RUNS = 2
const WALL_MS = Date.UTC(2026, 10, 2)
const KEY = 'a'
/** Part of the limit that one crash may cost. */
const STRANDED_PART = 0.02
const MOST_CALLS = 400

const turn = (): Promise<void> => new Promise((resolve) => afterThisTurn(resolve))

/** A table that sums the units of its refunds, because a refund gives back no more than was used. */
class RefundingTable extends MemoryQuotaTable {
  refunded = 0

  override async commit(changes: readonly AccountChange[]): ReturnType<QuotaTable['commit']> {
    const answer = await super.commit(changes)
    for (const { entries } of changes.filter((_, index) => answer.written[index])) {
      for (const { kind, units } of entries) if (kind === 'refund') this.refunded -= units
    }
    return answer
  }
}

/** Lives of processes over one table: the first dies at a given call, the next one uses the rest. */
class Lives {
  readonly server = new FakeClock({ wallMs: WALL_MS })
  readonly table = new RefundingTable(() => this.server.wall())
  readonly limit: number
  /** Units of takes whose answer arrived while the process was alive, less units that were given back. */
  admitted = 0
  /** Units of the call without an answer, which may or may not have been charged. */
  unanswered = 0
  readonly #random: SeededRandom

  constructor(random: SeededRandom) {
    this.#random = random
    this.limit = random.pick([60, 1_000, 20_000])
  }

  /** Returns the first process after its death, or after its last call if it outlives all its calls. */
  async first(opening: string | undefined, death: Death): Promise<MortalProcess> {
    const clock = new FakeClock({ wallMs: WALL_MS })
    const mortal = new MortalProcess({ clock, table: this.table, opening, limit: this.limit, death })
    const life = this.#life(mortal, clock)
    await this.#until(life, mortal, clock)
    return mortal
  }

  async #life(mortal: MortalProcess, clock: FakeClock): Promise<void> {
    const { quotas, limiter } = mortal.open()
    await this.#takes(mortal, limiter, 12)
    await this.#passes(mortal, clock, 4_000)
    await this.#takes(mortal, limiter, 8)
    await this.#gives(mortal, limiter)
    await refund(quotas)
    await reserveAndPost(quotas)
    // the lease is renewed, then reported and returned
    for (let step = 0; step < 8; step++) {
      await this.#takes(mortal, limiter, 1)
      await this.#passes(mortal, clock, 4_000)
    }
    await quotas.balance(KEY, NAMES)
    await quotas.close()
    limiter.close()
    const again = mortal.open()
    await this.#takes(mortal, again.limiter, 6)
    again.limiter.close()
    await again.quotas.close()
  }

  async #takes(mortal: MortalProcess, limiter: Limiter, count: number): Promise<void> {
    for (let taken = 0; taken < count && !mortal.isDead; taken++) {
      const cost = 1 + this.#random.whole(2)
      this.unanswered = cost
      const { allowed } = await limiter.take(KEY, cost)
      if (mortal.isDead) return
      this.unanswered = 0
      if (allowed) this.admitted += cost
    }
  }

  async #gives(mortal: MortalProcess, limiter: Limiter): Promise<void> {
    if (mortal.isDead) return
    this.unanswered = 2
    const taken = await limiter.take(KEY, 2)
    if (mortal.isDead) return
    this.unanswered = 0
    if (!taken.allowed) return
    // one unit is given back; the caller reckons with it as soon as it asks
    this.admitted += 1
    this.unanswered = 1
    await limiter.charge(KEY, -1, taken)
    if (!mortal.isDead) this.unanswered = 0
  }

  async #passes(mortal: MortalProcess, clock: FakeClock, ms: number): Promise<void> {
    for (let step = 0; step < 4 && !mortal.isDead; step++) {
      clock.advance(ms / 4)
      this.server.advance(ms / 4)
      for (let turns = 0; turns < 3; turns++) await turn()
    }
  }

  /** Waits until `life` has ended or its process is dead. Timers of a dead process do not run. */
  async #until(life: Promise<void>, mortal: MortalProcess, clock: FakeClock): Promise<void> {
    let isOver = false
    const over = life.then(() => {
      isOver = true
    })
    for (let turns = 0; turns < 4_000 && !isOver && !mortal.isDead; turns++) {
      await turn()
      if (turns % 8 === 7) clock.advance(1)
    }
    if (isOver) await over
    else if (!mortal.isDead) throw new Error('the life of a process did not end')
  }

  /** Takes what is left with a new process. Returns it, after the calls with a token were repeated. */
  async next(opening: string | undefined): Promise<Quotas> {
    const clock = new FakeClock({ wallMs: WALL_MS })
    const { quotas, limiter } = new MortalProcess({ clock, table: this.table, opening, limit: this.limit }).open()
    await refund(quotas)
    await reserveAndPost(quotas)
    const big = Math.floor(this.limit / 20)
    for (const cost of [big, 1]) {
      for (let denials = 0; denials < 3; ) {
        const { allowed } = await limiter.take(KEY, cost)
        if (allowed) this.admitted += cost
        else denials++
        await turn()
      }
    }
    return quotas
  }
}

/** Gives 3 units back, once. */
async function refund(quotas: Quotas): Promise<void> {
  await quotas.refund(KEY, REFUNDED, { token: 'refund', ...NAMES })
}

/** Reserves and posts 4 units, once. */
async function reserveAndPost(quotas: Quotas): Promise<void> {
  try {
    await quotas.reserve(KEY, POSTED, { id: 'reserved', ttlMs: '1d', ...NAMES })
  } catch (error) {
    // the reservation was already posted
    if ((error as { code?: string }).code !== 'SLUICE_TOKEN_REUSED') throw error
  }
  await quotas.post(KEY, 'reserved', NAMES)
}

const REFUNDED = 3
const POSTED = 4

/** Lets a process die at one call. Returns whether it died. */
async function crash(random: SeededRandom, openings: readonly (string | undefined)[], death: Death): Promise<boolean> {
  const lives = new Lives(random)
  const { limit, server } = lives
  const mortal = await lives.first(openings[0], death)
  const { admitted: before, unanswered } = lives
  // without openings, the lease of the dead process must end first
  if (openings[1] === undefined) server.advance(60_000)
  const quotas = await lives.next(openings[1])
  const { used, stranded, onLease, reserved, left } = await quotas.balance(KEY, NAMES)
  const where = { ...death, limit, before, unanswered, admitted: lives.admitted, used, stranded, onLease, left }
  const net = lives.admitted + POSTED - lives.table.refunded
  try {
    expect(net).toBeLessThanOrEqual(limit)
    expect(used + stranded + onLease + reserved + left).toBe(limit)
    expect(stranded).toBeLessThanOrEqual(limit * STRANDED_PART)
    expect(used).toBeLessThanOrEqual(net + unanswered)
    expect(used + stranded).toBeGreaterThanOrEqual(net - unanswered)
    expect(limit - net).toBeLessThanOrEqual(mortal.isDead ? limit * STRANDED_PART + unanswered : 0)
  } catch (error) {
    throw new Error(`${JSON.stringify(where)}: ${(error as Error).message}`, { cause: error })
  }
  await quotas.close()
  return mortal.isDead
}

describe('a process that dies at any call of its table', () => {
  test.each([
    ['that several processes share', [undefined, undefined]],
    ['that one process opens at a time', ['first', 'second']],
  ] as const)('costs at most 2 %% of the limit, and no unit is admitted twice: a table %s', async (_, openings) => {
    const lost: unknown[] = []
    const onLost = (error: unknown): void => void lost.push(error)
    process.on('unhandledRejection', onLost)
    try {
      await eachSeed(RUNS, async (random) => {
        let calls = 0
        for (const side of ['before', 'after'] as const) {
          let call = 1
          while (await crash(random, openings, { call, side })) expect(++call).toBeLessThan(MOST_CALLS)
          calls += call - 1
        }
        // each life makes calls for the takes, the refund, the reservation, the renewals and both ends
        expect(calls).toBeGreaterThan(30)
      })
      await turn()
      expect(lost).toEqual([])
    } finally {
      process.off('unhandledRejection', onLost)
    }
  })
})
