import { describe, expect, test } from '@jest/globals'
import { type Answer, type Backend, memoryBackend, type Policy } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { eachSeed, FakeClock, openedCounter, type SeededRandom } from '@sluice/testkit'
import { ServerClock } from '../limiter/laws/storages.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'

const LIMIT = 10
const WINDOW_MS = 60_000
const STEPS = 150
const KEYS = ['a', 'b', 'c', 'd']

interface Form {
  readonly policy: Policy
  /** Units that any window of real time may have, and the longest time until a key is unused, in windows. */
  readonly most: number
  readonly windows: number
}

const form = (algorithm: Policy['algorithm'], most: number, windows: number, more: Partial<Policy> = {}): Form => ({
  policy: { name: 'api', algorithm, limit: LIMIT, windowMs: WINDOW_MS, ...more },
  most,
  windows,
})

const forms: Readonly<Record<string, Form>> = {
  'fixed-window': form('fixed-window', 2 * LIMIT, 1),
  'sliding-window': form('sliding-window', 2 * LIMIT, 2),
  'sliding-window with slices': form('sliding-window', LIMIT, 4 / 3, { slices: 3 }),
  'sliding-log': form('sliding-log', LIMIT, 1),
  'token-bucket': form('token-bucket', 2 * LIMIT, 1),
  gcra: form('gcra', 2 * LIMIT, 1),
}

const redis = redisClientForTests()
const backends: Readonly<Record<string, (server: ServerClock, clock: FakeClock) => Backend>> = {
  memory: (server) => memoryBackend({ clock: server }),
  Redis: (server, clock) => redisBackend(redis.client, { prefix: ownPrefix(), clock, serverTime: () => server.now() }),
}

/** Takes of random keys in real time, while the clock of the backend is set back by up to two windows at a time. */
async function play(
  backend: Backend,
  { policy, most, windows }: Form,
  server: ServerClock,
  clock: FakeClock,
  random: SeededRandom,
): Promise<number> {
  const counter = openedCounter(backend, 'set-back', policy)
  const take = (key: string, cost: number): Promise<Answer> =>
    Promise.resolve(backend.takeAll([{ key, counter, cost }]))
  const admitted = new Map<string, { at: number; units: number }[]>(KEYS.map((key) => [key, []]))
  let denials = 0
  let leastLeft = LIMIT
  let latest = server.now()
  for (let step = 0; step < STEPS; step++) {
    clock.advance(random.pick([0, 1, random.whole(WINDOW_MS / 10), random.whole(WINDOW_MS)]))
    latest = Math.max(latest, server.now())
    if (random.whole(8) === 0) server.aheadMs -= random.pick([1, 1 + random.whole(2 * WINDOW_MS)])
    for (let request = 0; request < 4; request++) {
      const key = random.pick(KEYS)
      const units = random.pick([1, 1, 3, LIMIT])
      const { allowed, retryAfterMs, remaining } = (await take(key, units)).verdicts[0]
      leastLeft = Math.min(leastLeft, remaining)
      // no longer than without the step, once the clock has reached its latest time again
      expect(retryAfterMs).toBeLessThanOrEqual(Math.ceil(latest - server.now() + windows * WINDOW_MS))
      if (allowed) admitted.get(key)?.push({ at: clock.now(), units })
      else denials++
    }
  }
  expect(leastLeft).toBeGreaterThanOrEqual(0)
  for (const takes of admitted.values()) {
    for (const { at } of takes) {
      const within = takes.filter((one) => one.at <= at && one.at > at - WINDOW_MS)
      expect(within.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(most)
    }
  }
  // every key has its limit again at last
  clock.advance(latest - server.now() + windows * WINDOW_MS + 1)
  for (const key of KEYS) expect((await take(key, LIMIT)).verdicts[0].allowed).toBe(true)
  return denials
}

describe.each(Object.keys(backends))('a backend whose clock is set back: %s', (name) => {
  test.each(Object.entries(forms))(
    '%s admits no more in real time, and keys wait no longer than until the clock has caught up',
    async (_, shape) => {
      let denials = 0
      await eachSeed(name === 'memory' ? 20 : 4, async (random) => {
        const clock = new FakeClock({ nowMs: 1e9 })
        const server = new ServerClock(clock, 0)
        const backend = backends[name](server, clock)
        denials += await play(backend, shape, server, clock, random)
        await backend.close?.()
      })
      expect(denials).toBeGreaterThan(20)
    },
  )
})
