import { postgresLedger } from '@sluice/counters/postgres'
import type { Backend, Clock, PolicyInput } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { createQuotas } from '@sluice/quotas'
import { createRedis, leasedBackend, redisBackend } from '@sluice/redis'
import pg from 'pg'

/** A server that counts holds, and the policy of these holds; can be sent to another process. */
export interface HolderBackend {
  readonly kind: 'redis' | 'leased' | 'postgres' | 'quotas'
  readonly redisPort: number
  readonly postgresUrl: string
  readonly policy: PolicyInput
}

export interface OpenedBackend {
  readonly backend: Backend
  close(): Promise<unknown>
}

/** `clock` is the time of the server, too. */
export async function openBackend(options: HolderBackend, clock: Clock): Promise<OpenedBackend> {
  const { kind, redisPort, postgresUrl } = options
  const timed = { clock, serverTime: () => clock.now() }
  if (kind === 'postgres') {
    const pool = new pg.Pool({ connectionString: postgresUrl })
    const backend = postgresBackend(pool, timed)
    await backend.migrate()
    return { backend, close: () => pool.end() }
  }
  if (kind === 'quotas') {
    const pool = new pg.Pool({ connectionString: postgresUrl })
    const ledger = postgresLedger(pool)
    await ledger.migrate()
    return { backend: createQuotas(ledger, timed), close: () => pool.end() }
  }
  const client = createRedis({ port: redisPort })
  return {
    backend: kind === 'redis' ? redisBackend(client, timed) : leasedBackend(client, timed),
    close: () => client.quit(),
  }
}
