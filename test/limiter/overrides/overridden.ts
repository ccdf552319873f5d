import {
  createLimiter,
  type Decision,
  type LimitOverrides,
  type LimitOverridesOptions,
  limitOverrides,
  memoryBackend,
  type SyncLimiterOptions,
} from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

export const SECOND = 1_000
export const MINUTE = 60_000

/** A limiter of 10 per minute, in memory. */
export function limited(
  overrides: LimitOverrides,
  more: Partial<SyncLimiterOptions['policies'][number]> = {},
  clock: FakeClock = new FakeClock(),
) {
  return createLimiter({
    policies: [{ name: 'api', limit: 10, window: '1m', overrides, ...more }],
    backend: memoryBackend({ clock }),
    clock,
  })
}

/** Limits that a test can change, loaded every minute. */
export function loading(first: unknown, more: Partial<LimitOverridesOptions> = {}) {
  const clock = new FakeClock()
  const source = { answer: (): unknown => first, asked: 0 }
  const load = (): never => {
    source.asked++
    return source.answer() as never
  }
  const overrides = limitOverrides({ load, clock, ...more } as LimitOverridesOptions)
  const limiter = limited(overrides, {}, clock)
  const limitOf = (key: string): number => limiter.peek(key).binding.policy.limit
  /** Advances to the next load and waits for its result. */
  const next = async (answer: () => unknown): Promise<void> => {
    source.answer = answer
    clock.advance(MINUTE)
    await settled()
  }
  return { clock, source, overrides, limiter, limitOf, next }
}

/** Waits until callbacks of settled promises have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
}

/** Returns how many takes of a key pass. */
export function passing(take: () => Decision, most = 50): number {
  let passed = 0
  while (passed < most && take().allowed) passed++
  return passed
}
