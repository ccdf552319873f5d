import assert from 'node:assert/strict'
import type { BackendVerdict } from '@sluice/limiter-core'
import { type BackendBench, type Claim, charge, minute, remaining } from './backend-claims.ts'

/**
 * Moves the clock to the instant of a verdict, and checks that more units are available then, and not one ms earlier.
 */
async function assertGrows({ backend, clock }: BackendBench, verdict: BackendVerdict): Promise<void> {
  const { remaining: left, resetAfterMs, availableAfterMs } = verdict
  if (availableAfterMs === undefined) return
  assert.ok(Number.isInteger(availableAfterMs) && availableAfterMs >= 1, `more after ${availableAfterMs} ms`)
  assert.ok(availableAfterMs <= Math.ceil(resetAfterMs), `more after ${availableAfterMs}, all after ${resetAfterMs} ms`)
  clock.advance(availableAfterMs - 1)
  assert.equal(await remaining(backend, minute, 'a'), left, `before the ${availableAfterMs} ms`)
  clock.advance(1)
  assert.ok((await remaining(backend, minute, 'a')) > left, `${left} are left after the ${availableAfterMs} ms`)
}

/** Claims about when more units become available. A backend that omits that value passes them. */
export const availableClaims: Readonly<Record<string, Claim>> = {
  'reports no time until more is left if a key is full': async ({ backend }) => {
    for (const take of ['takeAll', 'peekAll'] as const) {
      const [{ availableAfterMs = 0 }] = (await backend[take]([charge(backend, minute, 'a', 0)])).verdicts
      assert.equal(availableAfterMs, 0)
    }
  },

  'reports the first ms at which more is left, for takes and peeks': async (bench) => {
    const { backend, clock } = bench
    await backend.takeAll([charge(backend, minute, 'a')])
    clock.advance(10_000)
    await assertGrows(bench, (await backend.takeAll([charge(backend, minute, 'a', 2)])).verdicts[0])
    await backend.takeAll([charge(backend, minute, 'a', 2)])
    clock.advance(500)
    await assertGrows(bench, (await backend.peekAll([charge(backend, minute, 'a')])).verdicts[0])
  },

  'reports for a denial a time until more is left that is not after the time until the cost fits': async ({
    backend,
    clock,
  }) => {
    await backend.takeAll([charge(backend, minute, 'a', 3)])
    clock.advance(20_000)
    const [some] = (await backend.takeAll([charge(backend, minute, 'a', 4)])).verdicts
    assert.equal(some.allowed, false)
    assert.ok((some.availableAfterMs ?? 1) <= some.retryAfterMs)
    await backend.takeAll([charge(backend, minute, 'a', 2)])
    const [none] = (await backend.takeAll([charge(backend, minute, 'a')])).verdicts
    assert.equal(none.allowed, false)
    assert.equal(none.availableAfterMs ?? none.retryAfterMs, none.retryAfterMs)
  },
}
