import assert from 'node:assert/strict'
import type { Backend, Policy } from '@sluice/limiter-core'
import { type Claim, charge, minute, remaining } from './backend-claims.ts'
import { otherTimes } from './other-times.ts'

/** Peeks before, at and behind every border of a window, and years away. */
async function peekAtOtherTimes(backend: Backend, now: number, policies: readonly Policy[]): Promise<void> {
  for (const policy of policies) {
    for (const away of otherTimes(policy.windowMs)) {
      await backend.peekAll([charge(backend, policy, 'a'), charge(backend, policy, 'unseen', 2)], { now: now + away })
    }
  }
}

/** Claims about questions, by their names. */
export const peekClaims: Readonly<Record<string, Claim>> = {
  'is not changed by a peek': async ({ backend, clock }) => {
    for (let peeks = 0; peeks < 20; peeks++)
      await backend.peekAll([charge(backend, minute, 'a', 5), charge(backend, minute, `b${peeks}`)])
    clock.advance(10)
    const { verdicts } = await backend.takeAll([charge(backend, minute, 'a', 5)])
    const [{ policy: _, availableAfterMs: __, ...first }] = verdicts
    assert.deepEqual(
      { ...first },
      { shadow: false, allowed: true, remaining: 0, retryAfterMs: 0, resetAfterMs: 60_000 },
    )
  },

  'is not changed by a peek at another time, with or without earlier counts': async ({ backend, clock, hour }) => {
    const policies = [minute, hour]
    await peekAtOtherTimes(backend, clock.now(), policies)
    for (const policy of policies) await backend.takeAll([charge(backend, policy, 'a', 5)])
    clock.advance(20_000)
    await peekAtOtherTimes(backend, clock.now(), policies)
    for (const policy of policies) assert.equal(await remaining(backend, policy, 'a'), policy.limit - 5)
    clock.advance(39_999)
    const denied = await backend.takeAll([charge(backend, minute, 'a')])
    assert.deepEqual([denied.verdicts[0].allowed, denied.verdicts[0].retryAfterMs], [false, 1])
    await peekAtOtherTimes(backend, clock.now(), policies)
    clock.advance(1)
    assert.equal((await backend.takeAll([charge(backend, minute, 'a', 5)])).verdicts[0].allowed, true)
  },
}
