import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import { contractPolicies, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { ownPrefix } from '../own-prefix.ts'
import { PolicyTwin } from './policy-twin.ts'

// a window that no double divides exactly into thirds and sixtieths, a day, and the window of the contract tests
const WINDOWS_MS = [60_000, 1_007, 86_400_000]

const plain: readonly Policy[] = (Object.keys(algorithms) as AlgorithmName[]).flatMap((name) =>
  WINDOWS_MS.flatMap((windowMs) =>
    contractPolicies(name)
      .map((policy) => ({ ...policy, windowMs }))
      .filter(({ limit }) => name !== 'gcra' || limit <= windowMs),
  ),
)

const policies: readonly Policy[] = [...plain, ...plain.map((policy) => ({ ...policy, retry: 'booked' as const }))]

/**
 * Takes at least `policies` random policies of all algorithms in this process and in Redis, and throws at the first
 * number that differs. Returns the number of takes.
 */
export async function liveAsTwins(client: Redis, random: SeededRandom, steps: number): Promise<number> {
  const prefix = ownPrefix()
  let now = random.pick([1_000, 1.7e12]) + random.next()
  const backend = redisBackend(client, { prefix, serverTime: () => now, maxBatch: random.pick([1, 7, 1_000]) })
  const twins = policies.map((policy, index) => new PolicyTwin(policy, `key ${index}`))
  const stored = twins.map((twin) => twin.storedAs(prefix))
  let taken = 0
  while (taken < steps) {
    now = Math.max(1, now + leapMs(random))
    await Promise.all(twins.map((twin) => twin.live(backend, random, now)))
    const cells = await client.mgetBuffer(stored)
    for (const [index, twin] of twins.entries()) twin.check(cells[index])
    taken += twins.length
  }
  await client.unlink(stored)
  backend.close?.()
  return taken
}

/** Random time steps: zero, fractions of windows, whole windows, and backwards. */
function leapMs(random: SeededRandom): number {
  const windowMs = random.pick(WINDOWS_MS)
  return random.pick([
    () => 0,
    () => 1,
    () => random.next() * 3,
    () => random.whole(Math.ceil(windowMs / 8)) + 0.5,
    () => random.next() * windowMs,
    () => windowMs,
    () => windowMs - 1,
    () => 3 * windowMs,
    () => -random.next() * 20,
    () => -random.next() * windowMs,
  ])()
}
