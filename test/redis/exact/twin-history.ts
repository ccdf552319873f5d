import { type AlgorithmName, algorithms, type Policy } from '@sluice/limiter-core/backend'
import { redisBackend } from '@sluice/redis'
import { contractPolicies, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { ownPrefix } from './own-prefix.ts'
import { PolicyTwin } from './policy-twin.ts'

// a window whose thirds and sixtieths are no doubles, a day, and what the contract has
const WINDOWS_MS = [60_000, 1_007, 86_400_000]

const policies: readonly Policy[] = (Object.keys(algorithms) as AlgorithmName[]).flatMap((name) =>
  WINDOWS_MS.flatMap((windowMs) =>
    contractPolicies(name)
      .map((policy) => ({ ...policy, windowMs }))
      .filter(({ limit }) => name !== 'gcra' || limit <= windowMs),
  ),
)

/**
 * Takes at least `policies` random policies of all algorithms here and in Redis, and fails at the first number in which they
 * differ. Answers how many it took.
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

/** How time goes on: not at all, by fractions, by windows, and back. */
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
