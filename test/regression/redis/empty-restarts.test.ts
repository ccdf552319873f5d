import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { createRedis, leasedBackend, redisBackend } from '@sluice/redis'
import { baseSeed, numberOfRuns, seededRandom } from '@sluice/testkit'
import { algorithmNames } from '../../algorithms/any-policy.ts'
import { Member, type MemberOptions } from '../../redis/known/member.ts'
import { calledAfterEach } from '../../services/for-tests.ts'
import { startRedis } from '../../services/redis/redis-server.ts'

/** `npm test` takes two of them. */
const algorithms = algorithmNames.slice(0, numberOfRuns(algorithmNames.length))

const LIMIT = 120
const RESTARTS = 6
const PROCESSES = 4

const ends = calledAfterEach()

/** Processes with random turns on a server that repeatedly restarts empty, until no request is admitted. */
async function acknowledged(algorithm: AlgorithmName, leased: boolean, seed: number): Promise<number> {
  const random = seededRandom(seed)
  const server = await startRedis()
  ends.push(() => server.stop())
  const options: MemberOptions = { scope: 'restarts', policy: { name: 'hour', limit: LIMIT, window: '1h', algorithm } }
  const fleet: Member[] = []
  for (let process = 0; process < PROCESSES; process++) {
    const client = createRedis(server.url, { retryStrategy: () => 20 })
    const backend = leased ? leasedBackend(client, { leaseMs: 100 }) : redisBackend(client)
    const member = await new Member(client, backend, options).ready()
    fleet.push(member)
    ends.push(() => member.close())
  }
  let units = 0
  const countOf = (): number => fleet.reduce((sum, { admitted, uncounted }) => sum + admitted - uncounted, 0)
  let before = countOf()
  const forgetOthers = (): void => {
    before = countOf()
  }
  for (let restart = 0; restart <= RESTARTS; restart++) {
    for (let turn = 0; turn < LIMIT / RESTARTS / 2; turn++) await random.pick(fleet).take('key', 1 + random.whole(3))
    units += countOf() - before
    if (restart === RESTARTS) break
    await server.kill()
    await server.start()
    for (const member of fleet) await member.takeUntilCounted('of the connection')
    forgetOthers()
  }
  forgetOthers()
  for (let turn = 0; turn < 40; turn++) await random.pick(fleet).take('key', 1 + random.whole(20))
  return units + countOf() - before
}

describe.each([
  ['counts exactly', false],
  ['leases', true],
])('six empty restarts of a server in which a fleet of four %s', (what, leased) => {
  test.each(algorithms)('with %s', async (algorithm) => {
    const seed = baseSeed()
    const units = await acknowledged(algorithm, leased, seed)
    process.stdout.write(`SLUICE_SEED=${seed}: a fleet that ${what} by ${algorithm}: ${units / LIMIT} of its limit\n`)
    expect(units / LIMIT).toBeLessThanOrEqual(1.2)
  })
})
