import { type Backend, createLimiter, type Hold, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import type { FakeClock, SeededRandom } from '@sluice/testkit'

/** What a random history of holds has done to the budget of one key. */
export interface HoldHistory {
  /** Largest excess of used and held units over the limit, as known from the answers; 0 is required. */
  readonly most: number
  /** Units that were free after all holds were over, and units that had not been spent. */
  readonly free: number
  readonly unspent: number
  /** Units of the budget that could be spent at the end. */
  readonly usable: number
}

interface OpenHold {
  readonly hold: Hold
  held: number
  readonly maxMs: number
  endsAt: number
}

const MAX_HOLD_MS = 8_000

/**
 * Holds, extends, settles, releases and forgets holds of one key at random, in several processes that end at random, and
 * with policies that change. `process` returns the backend of a new process.
 */
export async function holdHistory(
  steps: number,
  process: () => Backend,
  clock: FakeClock,
  random: SeededRandom,
): Promise<HoldHistory> {
  const limit = steps
  const policy: PolicyInput = {
    name: 'budget',
    algorithm: 'fixed-window',
    limit,
    window: '30d',
    maxHoldMs: MAX_HOLD_MS,
  }
  const open = (): Limiter =>
    createLimiter({ policies: [policy], backend: process(), scope: 'fuzz', shared: true, clock })
  const limiters = [open(), open(), open()]
  let holds: OpenHold[] = []
  let spent = 0
  let most = 0
  // nothing fits without a first unit, which starts the window
  await limiters[0].take('k', 1)
  spent++
  for (let step = 0; step < steps; step++) {
    const kind = random.whole(100)
    if (kind < 20) {
      clock.advance(random.whole(1_500))
    } else if (kind < 55 || holds.length === 0) {
      const reserve = 1 + random.whole(limit / 16)
      const maxMs = 1 + random.whole(MAX_HOLD_MS)
      const hold = await random.pick(limiters).hold('k', { reserve, maxMs })
      if (hold.allowed) holds.push({ hold, held: reserve, maxMs, endsAt: clock.now() + maxMs })
    } else if (kind < 65) {
      const one = random.pick(holds)
      const units = random.whole(limit / 50)
      if (await one.hold.extend(units)) {
        one.held += units
        one.endsAt = clock.now() + one.maxMs
      }
    } else if (kind < 97) {
      const [one] = holds.splice(random.whole(holds.length), 1)
      const actual = random.whole(Math.min(one.held, 5) + 1)
      if (kind < 75) await one.hold.release()
      else {
        await one.hold.settle(actual)
        spent += actual
      }
    } else if (kind < 99) {
      // a process ends, and never settles its holds
      const [gone] = limiters.splice(0, 1)
      await gone.close()
      holds = holds.filter(() => random.next() < 0.5)
      limiters.push(open())
    } else holds = []
    const { remaining } = (await limiters[0].peek('k')).binding
    const now = clock.now()
    const held = holds.reduce((sum, one) => sum + (one.endsAt >= now ? one.held : 0), 0)
    most = Math.max(most, spent + held + remaining - limit)
  }
  clock.advance(2 * MAX_HOLD_MS)
  const { remaining: free } = (await limiters[0].peek('k')).binding
  const unspent = limit - spent
  let usable = spent
  for (let units = 50; units > 0; units = Math.floor(units / 2)) {
    for (;;) {
      const hold = await limiters[0].hold('k', { reserve: units })
      if (!hold.allowed) break
      await hold.settle(units)
      usable += units
    }
  }
  for (const limiter of limiters) await limiter.close()
  return { most, free, unspent, usable }
}
