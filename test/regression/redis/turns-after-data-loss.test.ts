import { expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, type PolicyInput } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { calledAfterEach } from '../../services/for-tests.ts'
import { startRedis } from '../../services/redis/redis-server.ts'

const ends = calledAfterEach()

const BOOKED: PolicyInput = { name: 'booked', limit: 6, window: '1h', algorithm: 'fixed-window', retry: 'booked' }
const PLAIN: PolicyInput = { name: 'plain', limit: 100, window: '1h', algorithm: 'fixed-window' }

function left({ verdicts }: Decision): number {
  return verdicts.find(({ policy }) => policy.name === 'booked')?.remaining ?? Number.NaN
}

/** Uses 2 units and books a turn, restarts the server without its data, and returns what is left then. */
async function leftAfterLoss(policies: readonly PolicyInput[], last: (limiter: Limiter) => unknown): Promise<number> {
  const server = await startRedis()
  ends.push(() => server.stop())
  const client = createRedis(server.url, { retryStrategy: () => 20 })
  const backend = redisBackend(client)
  const limiter = createLimiter({ policies, backend, deadlineMs: 2_000, onBackendError: 'deny' })
  ends.push(async () => {
    limiter.close()
    await backend.close?.()
    client.disconnect()
  })
  await eventually(async () => (await limiter.take('other', 0)).counted, { what: 'a connection' })
  expect((await limiter.take('key', 2)).allowed).toBe(true)
  expect((await limiter.take('key', 5)).allowed).toBe(false)
  await last(limiter)
  await server.kill()
  await server.start()
  await eventually(async () => (await limiter.take('other', 1)).counted, { what: 'a connection again' })
  return left(await limiter.take('key', 1))
}

// the remaining units of a reply do not include booked turns
test.each([
  ['a denial', () => undefined],
  ['a late charge', (limiter: Limiter) => limiter.charge('key', 1)],
])('Redis without its data counts no turns as usage after %s', async (after, last) => {
  const used = after === 'a late charge' ? 3 : 2
  expect(await leftAfterLoss([BOOKED], last)).toBe(6 - used - 1)
  expect(await leftAfterLoss([BOOKED, PLAIN], last)).toBe(6 - used - 1)
})
