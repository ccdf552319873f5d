import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

/** Keys that are banned last, all of which must stay banned. */
const LAST = 1_000

/** Bans `count` keys in a memory of `maxBytes`. Returns the bytes of all counts, and how many of the last keys are banned. */
export function banKeys(count: number, maxBytes: number): { readonly bytes: number; readonly bannedOfLast: number } {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = memoryBackend({ clock, maxBytes })
  const ban = { after: 1, within: '1m', for: '1h', growth: 2 } as const
  const limiter = createLimiter({ name: 'api', limit: 1, window: '1m', backend, clock, ban })
  for (let index = 0; index < count; index++) {
    limiter.take(`key ${index}`)
    limiter.take(`key ${index}`)
  }
  let bannedOfLast = 0
  for (let index = count - LAST; index < count; index++) {
    if (limiter.take(`key ${index}`, 0).source === 'banned') bannedOfLast++
  }
  const { bytes } = backend as unknown as { readonly bytes: number }
  limiter.close()
  return { bytes, bannedOfLast }
}
