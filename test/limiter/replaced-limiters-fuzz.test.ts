import { expect, test } from '@jest/globals'
import { type AlgorithmName, memoryBackend } from '@sluice/limiter-core'
import { Observers, openPolicies, type PolicyInput, PolicyLimiter } from '@sluice/limiter-core/http'
import { FakeClock, seededRandom } from '@sluice/testkit'

const ALGORITHMS: readonly AlgorithmName[] = ['sliding-log', 'sliding-window', 'fixed-window', 'token-bucket', 'gcra']
const WINDOWS = [1_000, 10_000, 60_000, 600_000]
const KEYS = ['a', 'b', 'c']
const LARGEST_LIMIT = 40
const SEEDS = 40

interface Admitted {
  readonly at: number
}

/** A policy that applied from a time on. */
interface Change {
  readonly since: number
  readonly windowMs: number
  readonly limit: number
}

test.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
  'random changes neither free nor jail a key (seed %i)',
  async (seed) => {
    const random = seededRandom(seed)
    const clock = new FakeClock()
    const backend = memoryBackend({ clock })
    const identity = {}
    const anyPolicy = (): PolicyInput => ({
      name: 'p',
      algorithm: random.pick(ALGORITHMS),
      limit: 1 + random.whole(LARGEST_LIMIT),
      window: random.pick(WINDOWS),
      mode: random.whole(4) === 0 ? 'shadow' : 'enforce',
    })
    const opened = (policy: PolicyInput): PolicyLimiter =>
      new PolicyLimiter(openPolicies([[policy]], { backend, clock, identity })[0], clock, new Observers())
    let policy = anyPolicy()
    let limiter = opened(policy)
    const past: Change[] = [{ since: clock.now(), windowMs: policy.window as number, limit: policy.limit }]
    const admitted = new Map<string, Admitted[]>(KEYS.map((key) => [key, []]))
    for (let step = 0; step < 400; step++) {
      const kind = random.whole(10)
      if (kind === 0) {
        policy = anyPolicy()
        const next = opened(policy)
        next.replace(limiter)
        limiter = next
        past.push({ since: clock.now(), windowMs: policy.window as number, limit: policy.limit })
      } else if (kind <= 2) clock.advance(random.whole(policy.window as number))
      else {
        const key = random.pick(KEYS)
        const units = admitted.get(key) as Admitted[]
        const now = clock.now()
        const { allowed, verdicts } = await limiter.take(key)
        if (policy.mode !== 'enforce') {
          if (verdicts[0].allowed) units.push({ at: now })
          continue
        }
        const { shortest, largestLimit, isChanged } = withinWindow(past, now)
        const longest = Math.max(...WINDOWS)
        const recent = units.filter(({ at }) => now - at < shortest).length
        // windows with a fixed start and buckets allow up to two limits in one window, and a change one more
        const most = largestLimit * ((policy.algorithm === 'sliding-log' ? 1 : 2) + (isChanged ? 1 : 0))
        if (allowed) {
          expect([seed, step, recent < most]).toEqual([seed, step, true])
          units.push({ at: now })
        } else {
          const counted = units.filter(({ at }) => now - at < 2 * longest).length
          // what a bucket has drained in part counts as a whole unit when it is carried
          expect([seed, step, counted + 1 >= policy.limit]).toEqual([seed, step, true])
        }
      }
    }
    // whatever has happened, a key that was idle for two windows is unused
    clock.advance(4 * Math.max(...WINDOWS) * LARGEST_LIMIT)
    for (const key of KEYS) expect((await limiter.peek(key)).binding.remaining).toBe(policy.limit)
  },
)

/** Returns what applied within the shortest window before now. */
function withinWindow(past: readonly Change[], now: number) {
  const current = past[past.length - 1]
  let { windowMs: shortest, limit: largestLimit } = current
  let isChanged = false
  for (let index = past.length - 2; index >= 0; index--) {
    if (now - past[index + 1].since > shortest) break
    isChanged = true
    shortest = Math.min(shortest, past[index].windowMs)
    largestLimit = Math.max(largestLimit, past[index].limit)
  }
  return { shortest, largestLimit, isChanged }
}
