import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startNode } from '../services/child-node.ts'
import { type PostgresServer, startPostgres } from '../services/postgres-server.ts'
import { type RedisServer, startRedis } from '../services/redis-server.ts'
import type { FirstDecision, StoreName } from './children/starting.ts'

const STORES: readonly StoreName[] = ['redis', 'leases', 'synced', 'postgres', 'embedded']

/**
 * A decision that is late because the machine is busy: decisions about new keys take as long when everything is warm.
 */
function isMachineBusy({ ms, laterMs }: FirstDecision): boolean {
  return ms < 3 * laterMs
}

/** Defines a test for each backend, which starts `starts` processes one after the other. */
export function firstDecisions(starts: number): void {
  describe('the first decision of a process', () => {
    let redis: RedisServer
    let postgres: PostgresServer
    const folder = mkdtempSync(join(tmpdir(), 'sluice-starts-'))

    beforeAll(async () => {
      redis = await startRedis()
      postgres = await startPostgres()
    })

    afterAll(async () => {
      await Promise.all([redis.stop(), postgres.stop()])
      rmSync(folder, { recursive: true, force: true })
    })

    test.each(STORES)(
      'is counted without a warning: %s',
      async (store) => {
        const site = { redisUrl: redis.url, postgresUrl: postgres.url, folder }
        const decisions: FirstDecision[] = []
        for (let start = 0; start < starts; start++) {
          const child = startNode<typeof import('./children/starting.ts')>('starts/children/starting.ts')
          decisions.push(await child.call('firstDecision', store, site))
          await child.stop()
        }
        const failed = decisions.filter(({ counted, warnings }) => !counted || warnings.length > 0)
        expect(failed.filter((one) => !isMachineBusy(one))).toEqual([])
      },
      starts * 20_000,
    )
  })
}
