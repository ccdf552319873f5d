import { beforeAll, describe, test } from '@jest/globals'
import type { Backend, Clock } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { backendContract } from '@sluice/testkit'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'

const postgres = postgresForTests({ fsync: false })

beforeAll(async () => {
  await postgresBackend(postgres.pool).migrate()
})

describe('postgresBackend on a server', () => {
  const makeBackend = async (clock: Clock): Promise<Backend> => {
    await postgres.pool.query('truncate sluice.limits')
    return postgresBackend(postgres.pool, { serverTime: () => clock.now(), clock })
  }
  backendContract({ describe, test }, makeBackend, { keepsHolds: true })
})
