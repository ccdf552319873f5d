import { createLimiter, type Decision, type Limiter, memoryBackend } from '@sluice/limiter-core'
import { algorithms } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'

const name = process.argv[1]

type Deed = (limiter: Limiter<Decision>) => unknown

const deeds: Readonly<Record<string, Deed>> = {
  'huge-charge': (one) => one.charge('odd', Number.MAX_SAFE_INTEGER),
  'nan-now': (one) => one.take('odd', 100).allowed && one.take('odd', 1, { now: Number.NaN }),
  'nan-then-now': (one) => one.take('odd', 100, { now: Number.NaN }),
  'infinite-now': (one) => one.take('odd', 100, { now: Number.POSITIVE_INFINITY }),
  'far-now': (one) => one.take('odd', 100, { now: 1e18 }),
  'nan-taken-at': (one) => one.take('odd', 100).allowed && one.charge('odd', -1, Number.NaN),
}

// a call rejected with a coded error counts as answered, too
function quietly(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('SLUICE_')) throw error
  }
}

function leftOfOther(algorithm: keyof typeof algorithms): number {
  const clock = new FakeClock({ nowMs: 5 })
  const policies = [{ algorithm, limit: 100, window: '1m' }] as const
  const limiter = createLimiter({ policies, backend: memoryBackend({ clock }), clock })
  limiter.take('other', 3)
  quietly(() => deeds[name](limiter))
  quietly(() => limiter.take('odd'))
  quietly(() => limiter.peek('odd'))
  return limiter.peek('other').verdicts[0].remaining
}

console.log(JSON.stringify((Object.keys(algorithms) as (keyof typeof algorithms)[]).map(leftOfOther)))
