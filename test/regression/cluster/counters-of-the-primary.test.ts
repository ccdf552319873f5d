import { expect, test } from '@jest/globals'
import type { Counter } from '@sluice/limiter-core/backend'
import { ReceivedCounters } from '../../../packages/fleet/src/cluster/cluster-message.ts'

test('the primary keeps a bounded number of counters open, although workers send ever new limits', () => {
  let open = 0
  const counters = new ReceivedCounters((compiled, name): Counter => {
    open++
    return { compiled, name, take: () => Promise.reject(new Error('unused')), close: () => void open-- }
  })
  for (let limit = 1; limit <= 5_000; limit++) {
    const policy = { name: 'x', algorithm: 'fixed-window', limit, windowMs: 60_000 } as const
    expect(counters.of({ name: 'c', policy }).compiled.capacity).toBe(limit)
  }
  expect(open).toBeLessThanOrEqual(1_000)
})
