import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate } from '../services/postgres/embedded-template.ts'
import { type PostgresServer, startPostgres } from '../services/postgres/postgres-server.ts'
import { startNode } from '../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import type { FirstDecision, StoreName } from './children/starting.ts'

const STORES: readonly StoreName[] = ['redis', 'leases', 'synced', 'postgres', 'embedded']

interface Starts {
  readonly starts: number
  readonly enough: number
  /** Default: that of a limiter. */
  readonly deadlineMs?: number
}

/**
 * Defines a test for each backend, which starts up to `starts` processes one after the other, until `enough` first
 * decisions were counted without a warning.
 */
export function firstDecisions({ starts, enough, deadlineMs }: Starts): void {
  describe('the first decision of a process', () => {
    let redis: RedisServer
    let postgres: PostgresServer
    const folder = memoryFolder('sluice-starts-')

    beforeAll(async () => {
      copyEmbeddedTemplate(folder)
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
        const late: FirstDecision[] = []
        let counted = 0
        for (let start = 0; start < starts && counted < enough; start++) {
          const child = startNode<typeof import('./children/starting.ts')>('starts/children/starting.ts')
          const decision = await child.call('firstDecision', store, site, deadlineMs)
          await child.stop()
          if (decision.counted && decision.warnings.length === 0) counted++
          else late.push(decision)
        }
        expect({ counted, late: counted < enough ? late : [] }).toEqual({ counted: enough, late: [] })
      },
      100_000 + starts * 20_000,
    )
  })
}
