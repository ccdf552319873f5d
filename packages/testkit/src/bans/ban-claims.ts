import assert from 'node:assert/strict'
import type { Decision, Limiter, PolicyInput } from '@sluice/limiter-core'
import { BANNING, type BanBench } from './ban-bench.ts'
import {
  DELAY_MS,
  deny,
  exchange,
  exchanging,
  isNear,
  pass,
  until,
  untilBanned,
  untilFree,
  untilOverdue,
} from './ban-steps.ts'

type Make = (policy?: PolicyInput) => BanBench

const MINUTE = 60_000

export const banClaims: Readonly<Record<string, (make: Make) => Promise<void>>> = {
  'bans a key in all processes after as many denials as stated, and no other key': async (make) => {
    const bench = make()
    await deny(bench, 0, 'a', 2)
    await exchange(bench)
    assert.equal((await bench.limiters[0].take('a', 0)).allowed, true)
    await deny(bench, 0, 'a', 1)
    for (const limiter of bench.limiters) {
      const { binding, retryAfterMs, source, counted } = await untilBanned(bench, limiter, 'a')
      assert.deepEqual([binding.policy.name, binding.remaining, source, counted], ['api', 0, 'banned', false])
      assert.equal(retryAfterMs, binding.retryAfterMs)
      isNear(retryAfterMs, 5 * MINUTE)
      assert.equal((await limiter.take('b', 0)).allowed, true)
    }
    assert.deepEqual(bench.bans, [{ key: 'a', ms: 5 * MINUTE, level: 0 }])
  },

  'adds up the denials of all processes': async (make) => {
    const bench = make()
    for (const process of bench.limiters.keys()) {
      await deny(bench, process, 'a', 1)
      await exchange(bench)
    }
    // no process may have seen the last denial
    if (bench.fleet.isEventual) await untilOverdue(bench)
    for (const limiter of bench.limiters) await untilBanned(bench, limiter, 'a')
    assert.equal(bench.bans.length, 1)
  },

  'ends a ban to the millisecond, without units taken or strikes counted in the meantime': async (make) => {
    const bench = make()
    const [limiter] = bench.limiters
    await deny(bench, 0, 'a', 3)
    await untilBanned(bench, limiter, 'a')
    for (let times = 0; times < 5; times++) assert.equal((await limiter.take('a')).source, 'banned')
    const { retryAfterMs } = await limiter.take('a')
    bench.fleet.clock.advance(retryAfterMs - 1)
    assert.equal((await limiter.take('a')).source, 'banned')
    bench.fleet.clock.advance(1)
    await deny(bench, 0, 'a', 2)
    await exchange(bench)
    assert.notEqual((await limiter.take('a', 0)).source, 'banned')
  },

  'bans longer each time, up to the longest ban': async (make) => {
    const bench = make()
    for (const [process, minutes] of [
      [0, 5],
      [1, 10],
      [2, 15],
      [0, 15],
    ]) {
      await deny(bench, process, 'a', 3)
      const { retryAfterMs } = await untilBanned(bench, bench.limiters[process], 'a')
      isNear(retryAfterMs, minutes * MINUTE)
      await pass(bench, minutes * MINUTE + DELAY_MS)
    }
    assert.deepEqual(
      bench.bans.map(({ level }) => level),
      [0, 1, 2, 2],
    )
  },

  'forgets earlier bans after the stated time': async (make) => {
    const bench = make()
    await deny(bench, 0, 'a', 3)
    await untilBanned(bench, bench.limiters[0], 'a')
    await pass(bench, 4 * 60 * MINUTE + 1)
    await deny(bench, 0, 'a', 3)
    isNear((await untilBanned(bench, bench.limiters[0], 'a')).retryAfterMs, 5 * MINUTE)
  },

  'forgets denials after the stated time': async (make) => {
    const bench = make()
    await deny(bench, 0, 'a', 2)
    await pass(bench, 2 * MINUTE)
    await deny(bench, 0, 'a', 2)
    await exchange(bench)
    assert.notEqual((await bench.limiters[0].take('a', 0)).source, 'banned')
  },

  'ends a ban in all processes when one of them resets the key': async (make) => {
    const bench = make()
    await deny(bench, 0, 'a', 3)
    for (const limiter of bench.limiters) await untilBanned(bench, limiter, 'a')
    await exchanging(bench, bench.limiters[1].reset('a'))
    for (const limiter of bench.limiters) await untilFree(bench, limiter, 'a')
    // earlier bans are forgotten, too
    await deny(bench, 0, 'a', 3)
    isNear((await untilBanned(bench, bench.limiters[0], 'a')).retryAfterMs, 5 * MINUTE)
  },

  'a lifted ban denies no request of a process that did not use the key for a while': async (make) => {
    const bench = make()
    await deny(bench, 0, 'a', 3)
    for (const limiter of bench.limiters) await untilBanned(bench, limiter, 'a')
    await exchanging(bench, bench.limiters[1].reset('a'))
    await pass(bench, MINUTE)
    for (const [process, limiter] of bench.limiters.entries()) {
      if (bench.fleet.asksLater) {
        await limiter.take('a', 0)
        await exchange(bench)
      }
      const { source, allowed } = await (process === 0 ? limiter.peek('a') : limiter.take('a'))
      assert.deepEqual([source === 'banned', allowed], [false, true])
    }
  },

  'bans a key by a call in all processes, unless it is banned for longer': async (make) => {
    const bench = make()
    const [limiter, other] = bench.limiters
    const lasts = (minutes: number) => async (one: Limiter) => {
      const isNew = ({ retryAfterMs }: Decision): boolean => retryAfterMs > minutes * MINUTE - DELAY_MS
      isNear((await until(bench, one, 'a', isNew)).retryAfterMs, minutes * MINUTE)
    }
    // time slots have the durations of the policy
    await exchanging(bench, limiter.ban('a', '10m'))
    await Promise.all(bench.limiters.map(lasts(10)))
    assert.equal((await other.take('b')).allowed, true)
    await exchanging(bench, other.ban('a', '5m'))
    await Promise.all(bench.limiters.map(lasts(10)))
    await exchanging(bench, other.ban('a', '15m'))
    // a known ban is read again after a second
    await pass(bench, 1_000)
    await Promise.all(bench.limiters.map(lasts(15)))
    assert.deepEqual(
      bench.bans.map(({ ms, level }) => [ms / MINUTE, level]),
      [
        [10, 0],
        [15, 1],
      ],
    )
    await pass(bench, 15 * MINUTE + DELAY_MS)
    await untilFree(bench, limiter, 'a')
    // both count as earlier bans
    await deny(bench, 0, 'a', 3)
    isNear((await untilBanned(bench, limiter, 'a')).retryAfterMs, 15 * MINUTE)
  },

  'extends a ban while the client keeps sending, if this is set': async (make) => {
    const bench = make({ ...BANNING, ban: { ...ban, extend: true } })
    const [limiter, other] = bench.limiters
    await deny(bench, 0, 'a', 3)
    await untilBanned(bench, other, 'a')
    const isNew = ({ retryAfterMs }: Decision): boolean => retryAfterMs > 5 * MINUTE - DELAY_MS
    for (let minute = 0; minute < 8; minute++) {
      await pass(bench, MINUTE)
      const process = minute % 2 === 0 ? limiter : other
      const { source, retryAfterMs } = await until(bench, process, 'a', isNew)
      assert.equal(source, 'banned')
      isNear(retryAfterMs, 5 * MINUTE)
      // what the request of one process extended is read by the other
      await limiter.take('a')
      await exchange(bench)
    }
    await pass(bench, 5 * MINUTE + DELAY_MS)
    for (const one of bench.limiters) await untilFree(bench, one, 'a')
  },

  'bans after failures instead of denials, if this is set': async (make) => {
    const bench = make({ ...BANNING, ban: { ...ban, strikes: 'failures' } })
    const [limiter, other] = bench.limiters
    await deny(bench, 0, 'b', 5)
    await exchange(bench)
    assert.notEqual((await limiter.take('b', 0)).source, 'banned')
    for (let times = 0; times < 3; times++) await exchanging(bench, limiter.report('a', 'failure'))
    await untilBanned(bench, limiter, 'a')
    await untilBanned(bench, other, 'a')
  },

  'clears strikes after a success, if this is set': async (make) => {
    const bench = make({ ...BANNING, ban: { ...ban, forgiveOn: 'success' } })
    const [limiter] = bench.limiters
    for (let times = 0; times < 3; times++) {
      await deny(bench, 0, 'a', 2)
      await limiter.take('a', 0)
      await exchanging(bench, limiter.report('a', 'success'))
      await exchange(bench)
    }
    assert.deepEqual(bench.bans, [])
    await deny(bench, 0, 'a', 3)
    const { retryAfterMs } = await untilBanned(bench, limiter, 'a')
    await exchanging(bench, limiter.report('a', 'success'))
    // a success does not end a ban
    assert.equal((await limiter.take('a')).source, 'banned')
    isNear(retryAfterMs, 5 * MINUTE)
  },

  'denies nothing in shadow mode, and reports what it would deny': async (make) => {
    const bench = make({ ...BANNING, mode: 'shadow' })
    const [limiter] = bench.limiters
    await deny(bench, 0, 'a', 3)
    const { allowed, binding } = await until(bench, limiter, 'a', ({ binding: b }) => b.retryAfterMs > MINUTE)
    assert.deepEqual([allowed, binding.allowed, binding.shadow], [true, false, true])
    assert.equal(bench.bans.length, 1)
  },
}

const ban = BANNING.ban as NonNullable<PolicyInput['ban']>
