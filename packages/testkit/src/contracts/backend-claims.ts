import assert from 'node:assert/strict'
import type { Backend, Charge, Decision, Policy } from '@sluice/limiter-core/backend'
import type { FakeClock } from '../fake-clock.ts'
import { hostileKeys } from './hostile-keys.ts'
import { openedCounter } from './opened-counters.ts'
import { assertSameVerdict } from './same-verdict.ts'

/** The backend under test, its clock, and a second policy. */
export interface BackendBench {
  readonly backend: Backend
  readonly clock: FakeClock
  readonly hour: Policy
  /** Resolves when the backend has answered all calls; undefined if calls may need a clock that moves. */
  readonly answered?: (() => Promise<void>) | undefined
}

export type Claim = (bench: BackendBench) => Promise<void>

/** First reading of the clock. */
export const START_MS = 1_000

export const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 }

/** Returns the second policy: with a window of an hour, or with the same window. */
export function policyBeside(oneWindow: boolean): Policy {
  return { name: 'hour', algorithm: 'fixed-window', limit: 8, windowMs: oneWindow ? minute.windowMs : 3_600_000 }
}

export function charge(backend: Backend, policy: Policy, key: string, cost = 1, advisory = false): Charge {
  return { key, counter: openedCounter(backend, 'contract', policy), cost, advisory }
}

export async function remaining(backend: Backend, policy: Policy, key: string): Promise<number> {
  return (await backend.peekAll([charge(backend, policy, key)])).verdicts[0].remaining
}

/** Claims about one backend each, by their names. */
export const backendClaims: Readonly<Record<string, Claim>> = {
  'returns its name, its clock reading, and one verdict per charge in order': async ({ backend, clock, hour }) => {
    clock.advance(250)
    const answer = await backend.takeAll([charge(backend, hour, 'a'), charge(backend, minute, 'a', 2, true)])
    assert.equal(answer.takenAt, START_MS + 250)
    assert.equal(answer.counted, true)
    assert.ok(answer.source.length > 0 && backend.name.length > 0)
    assert.deepEqual(
      answer.verdicts.map(({ policy, shadow, remaining: left }) => [policy.name, shadow, left]),
      [
        ['hour', false, 7],
        ['minute', true, 3],
      ],
    )
  },

  'charges every policy or none': async ({ backend, hour }) => {
    await backend.takeAll([charge(backend, minute, 'a', 5)])
    const { verdicts } = await backend.takeAll([charge(backend, hour, 'a'), charge(backend, minute, 'a')])
    assert.deepEqual(
      verdicts.map(({ allowed }) => allowed),
      [true, false],
    )
    assert.equal(await remaining(backend, hour, 'a'), 8)
    assert.equal(await remaining(backend, minute, 'a'), 0)
  },

  'ignores denials of advisory policies, and does not charge an advisory policy that would deny': async ({
    backend,
    hour,
  }) => {
    const both = [charge(backend, hour, 'a'), charge(backend, minute, 'a', 6, true)]
    const { verdicts } = await backend.takeAll(both)
    assert.deepEqual(
      verdicts.map(({ allowed }) => allowed),
      [true, false],
    )
    assert.equal(await remaining(backend, hour, 'a'), 7)
    assert.equal(await remaining(backend, minute, 'a'), 5)
  },

  'takes nothing at a cost of 0, and allows it even if nothing is left': async ({ backend }) => {
    const free = await backend.takeAll([charge(backend, minute, 'a', 0)])
    assert.deepEqual(
      [free.verdicts[0].allowed, free.verdicts[0].remaining, free.verdicts[0].resetAfterMs],
      [true, 5, 0],
    )
    await backend.takeAll([charge(backend, minute, 'a', 5)])
    assert.equal((await backend.takeAll([charge(backend, minute, 'a', 0)])).verdicts[0].allowed, true)
  },

  'applies a refund only to the window of its take': async ({ backend, clock }) => {
    const first = await backend.takeAll([charge(backend, minute, 'a', 3)])
    await backend.adjustAll([charge(backend, minute, 'a', -2)], first.takenAt)
    assert.equal(await remaining(backend, minute, 'a'), 4)
    clock.advance(60_000)
    await backend.takeAll([charge(backend, minute, 'a', 2)])
    await backend.adjustAll([charge(backend, minute, 'a', -1)], first.takenAt)
    assert.equal(await remaining(backend, minute, 'a'), 3)
  },

  'does not create a key by a refund, and raises no key above its limit': async ({ backend }) => {
    await backend.adjustAll([charge(backend, minute, 'a', -4)], START_MS)
    assert.equal(await remaining(backend, minute, 'a'), 5)
    const taken = await backend.takeAll([charge(backend, minute, 'a')])
    await backend.adjustAll([charge(backend, minute, 'a', -4)], taken.takenAt)
    assert.equal(await remaining(backend, minute, 'a'), 5)
  },

  'charges unconditionally, and treats a future time as now': async ({ backend }) => {
    const { verdicts } = await backend.adjustAll([charge(backend, minute, 'a', 7)], Number.POSITIVE_INFINITY)
    assert.equal(verdicts[0].remaining, 0)
    assert.equal((await backend.takeAll([charge(backend, minute, 'a')])).verdicts[0].retryAfterMs, 60_000)
  },

  'resets a key fully, and no other key': async ({ backend, hour }) => {
    await backend.takeAll([charge(backend, minute, 'a', 5)])
    await backend.takeAll([charge(backend, minute, 'b', 5)])
    await backend.takeAll([charge(backend, hour, 'a', 5)])
    await backend.resetAll([charge(backend, minute, 'a'), charge(backend, minute, 'never seen')])
    assert.equal(await remaining(backend, minute, 'a'), 5)
    assert.equal(await remaining(backend, minute, 'b'), 0)
    assert.equal(await remaining(backend, hour, 'a'), 3)
  },

  'admits exactly the limit with concurrent takes': async ({ backend, hour }) => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => backend.takeAll([charge(backend, hour, 'a')])))
    assert.equal(answers.filter(({ verdicts }) => verdicts[0].allowed).length, 8)
  },

  'adopts the usage of a key reported by a caller if its own count is lower': async ({ backend, clock, hour }) => {
    const knowing = (key: string, used: number): Charge => ({
      ...charge(backend, hour, key),
      known: { used, resetAfterMs: 5_000 },
    })
    const fresh = await backend.takeAll([knowing('a', 6)])
    assert.deepEqual([fresh.verdicts[0].allowed, fresh.verdicts[0].remaining], [true, 1])
    const spent = await backend.takeAll([knowing('b', 8)])
    assert.deepEqual([spent.verdicts[0].allowed, spent.verdicts[0].retryAfterMs], [false, 5_000])
    clock.advance(4_999)
    assert.equal((await backend.takeAll([charge(backend, hour, 'b')])).verdicts[0].allowed, false)
    clock.advance(1)
    assert.equal((await backend.takeAll([charge(backend, hour, 'b')])).verdicts[0].allowed, true)
  },

  'keeps its own count if the usage reported by a caller is not higher': async ({ backend, hour }) => {
    await backend.takeAll([charge(backend, hour, 'a', 5)])
    const { verdicts } = await backend.takeAll([{ ...charge(backend, hour, 'a'), known: { used: 5, resetAfterMs: 1 } }])
    assert.deepEqual([verdicts[0].remaining, verdicts[0].resetAfterMs], [2, hour.windowMs])
  },

  'adopts the reported usage of a key even if another policy denies': async ({ backend, hour }) => {
    await backend.takeAll([charge(backend, minute, 'a', 5)])
    await backend.takeAll([
      { ...charge(backend, hour, 'a'), known: { used: 6, resetAfterMs: 5_000 } },
      charge(backend, minute, 'a'),
    ])
    assert.equal(await remaining(backend, hour, 'a'), 2)
  },

  'counts each key separately, whatever its bytes': async ({ backend }) => {
    for (const key of hostileKeys) await backend.takeAll([charge(backend, minute, key, 2)])
    for (const key of hostileKeys)
      assert.equal(await remaining(backend, minute, key), 3, JSON.stringify(key.slice(0, 70)))
  },

  'keeps used units when the limit of a count changes': async ({ backend }) => {
    const larger = { ...minute, limit: 9 }
    await backend.takeAll([charge(backend, minute, 'a', 5)])
    assert.equal(await remaining(backend, larger, 'a'), 4)
    await backend.takeAll([charge(backend, larger, 'a', 2)])
    assert.equal(await remaining(backend, minute, 'a'), 0)
  },

  'decides through a counter like for a list with one charge': async ({ backend, clock }) => {
    for (let takes = 0; takes < 12; takes++) {
      clock.advance(1_000 * (takes % 4))
      const { counter } = charge(backend, minute, 'alone')
      const { verdicts, takenAt } = await backend.takeAll([charge(backend, minute, 'listed')])
      const decision: Decision = await counter.take('alone', 1)
      assertSameVerdict(minute, verdicts[0], decision.verdicts[0], `take ${takes}`)
      assert.deepEqual([decision.allowed, decision.takenAt], [verdicts[0].allowed, takenAt])
    }
  },
}
