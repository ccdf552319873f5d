import { expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'

test('a closed cap leaves its backend open if the backend was passed in', async () => {
  let closed = 0
  const backend: InflightBackend = {
    acquire: () => ({ allowed: false, retryAfterMs: 1 }),
    close: () => void closed++,
  }
  const caps = [1, 2].map(() => createInflightLimiter({ limit: 1, backend, shared: true }))
  for (const cap of caps) await cap.close()
  expect(closed).toBe(0)
})
