import { expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend } from '@sluice/limiter-core'

test('a cap that is closed leaves the backend open that was handed to it', async () => {
  let closed = 0
  const backend: InflightBackend = {
    acquire: () => ({ allowed: false, retryAfterMs: 1 }),
    close: () => void closed++,
  }
  const caps = [1, 2].map(() => createInflightLimiter({ limit: 1, backend, shared: true }))
  for (const cap of caps) await cap.close()
  expect(closed).toBe(0)
})
