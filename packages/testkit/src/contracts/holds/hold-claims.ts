import assert from 'node:assert/strict'
import { createLimiter, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { HoldBench } from './hold-bench.ts'

const MAX_HOLD_MS = 20_000
const STEP_MS = 20
/** Held units return up to a slice after their time. */
const OVER_MS = MAX_HOLD_MS + MAX_HOLD_MS / 8

/** Returns the window of a bench: a period of its calendar if it has one. */
function windowOf({ hour: { windowMs, calendar } }: HoldBench): Pick<PolicyInput, 'algorithm' | 'window' | 'calendar'> {
  return { algorithm: 'fixed-window', window: windowMs, ...(calendar && { calendar }) }
}

/** A limiter with a policy of 100 tokens, and one of 8 requests that are not held. */
function limiterOn(bench: HoldBench): Limiter {
  const { backend, clock } = bench
  return createLimiter({
    backend,
    clock,
    scope: 'holds',
    // the clock moves while calls are under way
    deadlineMs: 60_000,
    policies: [
      { name: 'tokens', limit: 100, ...windowOf(bench), maxHoldMs: MAX_HOLD_MS },
      { name: 'requests', limit: 8, ...windowOf(bench) },
    ],
  })
}

/** Returns the length of the longest window of a bench. Its calendar has days. */
function longestMs({ hour: { windowMs, calendar } }: HoldBench): number {
  return calendar ? 25 * 3_600_000 : windowMs
}

const one = (tokens: number): Readonly<Record<string, number>> => ({ tokens, requests: 1 })

/** Advances the clock in small steps, so that calls that a process sends meanwhile are answered within their deadline. */
async function pass({ clock, answered }: HoldBench, ms: number): Promise<void> {
  // the period of a calendar is long
  const stepMs = Math.max(STEP_MS, ms / 4_096)
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(left, stepMs))
    await new Promise<void>((resolve) => afterThisTurn(resolve))
    await answered?.()
  }
  for (let turns = 0; turns < 5; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
}

async function left(limiter: Limiter): Promise<readonly number[]> {
  const { verdicts } = await limiter.peek('a')
  return verdicts.map(({ remaining }) => remaining)
}

/** Claims about holds of a limiter, by their names. */
export const holdClaims: Readonly<Record<string, (bench: HoldBench) => Promise<void>>> = {
  'holds units of every policy or of none': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(60) })
    assert.deepEqual([hold.allowed, await left(limiter)], [true, [40, 7]])
    const denied = await limiter.hold('a', { reserve: one(41) })
    assert.deepEqual([denied.allowed, denied.decision.allowed, await left(limiter)], [false, false, [40, 7]])
    await denied.settle(one(50))
    await denied.release()
    assert.equal(await denied.extend(one(1)), false)
    assert.deepEqual(await left(limiter), [40, 7])
    assert.equal((await limiter.take('a', one(41))).allowed, false)
    assert.equal((await limiter.take('a', one(40))).allowed, true)
    await limiter.close()
  },

  'spends what a settlement says, once, and returns the rest': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(60) })
    const settled = await hold.settle(one(25))
    assert.equal(settled.verdicts[0].remaining, 75)
    await hold.settle(one(50))
    await hold.release()
    assert.deepEqual(await left(limiter), [75, 7])
    await limiter.close()
  },

  'spends more than was held, even above the limit': async (bench) => {
    const limiter = limiterOn(bench)
    const holds = [await limiter.hold('a', { reserve: one(60) }), await limiter.hold('a', { reserve: one(40) })]
    await holds[0].settle(one(90))
    assert.deepEqual(await left(limiter), [0, 6])
    await holds[1].release()
    assert.deepEqual(await left(limiter), [10, 7])
    await limiter.close()
  },

  'holds more units with each extension, and stays as it was if they do not fit': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(30) })
    assert.equal(await hold.extend({ tokens: 50, requests: 0 }), true)
    assert.deepEqual(await left(limiter), [20, 7])
    assert.equal(await hold.extend({ tokens: 21, requests: 0 }), false)
    assert.deepEqual([hold.decision.allowed, await left(limiter)], [false, [20, 7]])
    assert.equal(await hold.extend({ tokens: 20, requests: 0 }), true)
    await hold.settle(one(70))
    assert.deepEqual(await left(limiter), [30, 7])
    assert.equal(await hold.extend(one(1)), false)
    await limiter.close()
  },

  'returns units when the time of their hold is over, and spends them at a later settlement': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(60) })
    const short = await limiter.hold('a', { reserve: one(30), maxMs: MAX_HOLD_MS / 4 })
    await pass(bench, MAX_HOLD_MS / 4 - 20)
    assert.deepEqual(await left(limiter), [10, 6])
    await pass(bench, MAX_HOLD_MS / 8 + 20)
    assert.equal((await left(limiter))[0], 40)
    await pass(bench, OVER_MS)
    assert.equal((await left(limiter))[0], 100)
    await hold.settle(one(20))
    await short.release()
    assert.equal((await left(limiter))[0], 80)
    await limiter.close()
  },

  'holds all units longer after an extension': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(60) })
    for (let times = 0; times < 3; times++) {
      await pass(bench, (MAX_HOLD_MS * 3) / 4)
      assert.equal(await hold.extend({ tokens: 10, requests: 0 }), true)
    }
    assert.equal((await left(limiter))[0], 10)
    await hold.settle(one(80))
    assert.equal((await left(limiter))[0], 20)
    await limiter.close()
  },

  'takes all units again if a hold is extended after its time': async (bench) => {
    const limiter = limiterOn(bench)
    const hold = await limiter.hold('a', { reserve: one(60) })
    await pass(bench, OVER_MS)
    await limiter.take('a', one(50))
    assert.equal(await hold.extend({ tokens: 0, requests: 0 }), false)
    assert.equal((await left(limiter))[0], 50)
    await hold.release()
    assert.equal((await left(limiter))[0], 50)
    await limiter.close()
  },
}

/** Claims about backends that hold units themselves. */
export const keptHoldClaims: typeof holdClaims = {
  'counts held units as used after the window of their hold': async (bench) => {
    const limiter = createLimiter({
      backend: bench.backend,
      clock: bench.clock,
      scope: 'long holds',
      deadlineMs: 60_000,
      policies: [{ name: 'tokens', limit: 100, ...windowOf(bench), maxHoldMs: 10 * longestMs(bench) }],
    })
    const hold = await limiter.hold('a', { reserve: 60 })
    await pass(bench, 3 * longestMs(bench))
    assert.deepEqual(await left(limiter), [40])
    await hold.settle(30)
    assert.deepEqual(await left(limiter), [70])
    await limiter.close()
  },

  'returns units of a process that has ended': async (bench) => {
    const ended = limiterOn(bench)
    await ended.hold('a', { reserve: one(100) })
    const limiter = limiterOn({ ...bench, clock: bench.clock })
    assert.equal((await left(limiter))[0], 0)
    await pass(bench, OVER_MS)
    assert.equal((await left(limiter))[0], 100)
    await limiter.close()
  },
}
