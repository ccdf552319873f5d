import { expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { ownSchema } from '../../postgres/own-schema.ts'
import { postgresForTests } from '../../services/postgres/postgres-for-tests.ts'

const postgres = postgresForTests({ fsync: false })

test.each(['2s', '4s', '1m'] as const)('a hold of at most %s is settled after its key was reset', async (maxHoldMs) => {
  const backend = postgresBackend(postgres.pool, { schema: ownSchema() })
  await backend.migrate()
  const policies = [{ name: 'jobs', limit: 100, window: '1h', algorithm: 'fixed-window', maxHoldMs } as const]
  const limiter = createLimiter({ policies, backend, scope: 'holds', deadlineMs: 20_000 })
  const hold = await limiter.hold('key', { reserve: 10 })
  expect(hold).toMatchObject({ allowed: true })
  await limiter.reset('key')
  expect(await hold.settle(4)).toMatchObject({ counted: true })
  expect((await limiter.peek('key')).binding.remaining).toBe(96)
  limiter.close()
  backend.close?.()
})
