import { beforeAll, describe, test } from '@jest/globals'
import { postgresBackend } from '@sluice/postgres'
import { banContract, FakeClock } from '@sluice/testkit'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'

const postgres = postgresForTests({ fsync: false })

beforeAll(async () => {
  await postgresBackend(postgres.pool).migrate()
})

describe('postgresBackend of several processes', () =>
  banContract({ describe, test }, async (processes) => {
    await postgres.pool.query('truncate sluice.limits')
    const clock = new FakeClock({ nowMs: 1_000 })
    const backends = Array.from({ length: processes }, () =>
      postgresBackend(postgres.pool, { serverTime: () => clock.now(), clock }),
    )
    return { clock, backends }
  }))
