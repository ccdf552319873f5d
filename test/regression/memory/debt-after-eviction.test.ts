import { expect, test } from '@jest/globals'
import { KIB, scene } from '../../floods/scene.ts'

test.each(['token-bucket', 'gcra'] as const)(
  '%s: a key with a debt of ten limits waits as long after a flood',
  (algorithm) => {
    const { limiter } = scene([{ algorithm, limit: 10, window: '10s' }], 64 * KIB)
    limiter.charge('debtor', 100)
    const { retryAfterMs } = limiter.peek('debtor')
    expect(retryAfterMs).toBe(91_000)
    for (let key = 0; key < 5_000; key++) limiter.charge(`flood-${key}`, 200)
    expect(limiter.peek('debtor').retryAfterMs).toBeGreaterThanOrEqual(retryAfterMs)
  },
)
