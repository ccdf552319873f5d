import { createLimiter } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { type HolderBackend, openBackend } from '../holder-backend.ts'

/** Holds units at a time, many times for one key, and never settles them. Returns how many were held. */
export async function hold(options: HolderBackend, now: number, reserve: number): Promise<number> {
  const clock = new FakeClock({ nowMs: now })
  const { backend } = await openBackend(options, clock)
  const limiter = createLimiter({ policies: [options.policy], backend, clock, deadlineMs: 20_000 })
  let held = 0
  while ((await limiter.hold('a', { reserve })).allowed) held += reserve
  return held
}
