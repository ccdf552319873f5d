import assert from 'node:assert/strict'
import type { CounterBench } from './counter-claims.ts'

/** The contract of counters that support idempotency tokens, by claim. */
export const tokenClaims: Readonly<Record<string, (bench: CounterBench) => Promise<void>>> = {
  'counts a token once, in any process': async ({ open, durable }) => {
    const [one, other] = [await open(), await open()]
    const options = { token: 'order-17' }
    assert.deepEqual(await one.increment('a', 5, options), { value: 5, durable, counted: true })
    assert.deepEqual(await one.increment('a', 5, options), { value: 5, durable, counted: false })
    assert.deepEqual(await other.increment('a', 5, options), { value: 5, durable, counted: false })
    await assert.rejects(other.increment('a', 6, options), { code: 'SLUICE_TOKEN_REUSED' })
    await assert.rejects(other.increment('b', 5, options), { code: 'SLUICE_TOKEN_REUSED' })
    assert.equal((await other.read('a', { maxAgeMs: 0 })).value, 5)
    assert.equal((await other.read('b', { maxAgeMs: 0 })).value, 0)
  },

  'counts a token once when it is sent many times concurrently': async ({ open }) => {
    const processes = [await open(), await open(), await open()]
    const sent = processes.flatMap((counters) => [1, 2, 3].map(() => counters.increment('a', 2, { token: 't' })))
    const counted = (await Promise.all(sent)).filter((receipt) => receipt.counted)
    assert.equal(counted.length, 1)
    assert.equal((await processes[0].read('a', { maxAgeMs: 0 })).value, 2)
  },

  'counts a batch with one token once, as a whole': async ({ open }) => {
    const [one, other] = [await open(), await open()]
    const batch = Array.from({ length: 500 }, (_, index) => [`page:${index % 250}`, 1] as const)
    const first = await one.incrementMany(batch, { token: 'clicks' })
    assert.deepEqual([first.counted, first.values.size, first.values.get('page:7')], [true, 250, 2])
    assert.equal((await other.incrementMany(batch, { token: 'clicks' })).counted, false)
    assert.equal(await other.aggregate('page:'), 500)
  },
}

/** The contract of counters that do not support tokens. */
export const noTokenClaims: Readonly<Record<string, (bench: CounterBench) => Promise<void>>> = {
  'rejects a token, and counts nothing': async ({ open }) => {
    const counters = await open()
    await assert.rejects(counters.increment('a', 1, { token: 'order-17' }), { code: 'SLUICE_BAD_OPTION' })
    await assert.rejects(counters.incrementMany({ a: 1 }, { token: 'order-17' }), { code: 'SLUICE_BAD_OPTION' })
    assert.equal((await counters.read('a')).value, 0)
  },
}
