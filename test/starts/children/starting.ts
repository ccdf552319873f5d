import { embeddedLedger, postgresLedger } from '@sluice/counters/postgres'
import { type Backend, createLimiter, type LimiterOptions } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { leasedBackend, redisBackend, syncedBackend } from '@sluice/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

// a process that has just started

export type StoreName = 'redis' | 'leases' | 'synced' | 'postgres' | 'embedded'

export interface StartSite {
  readonly redisUrl: string
  readonly postgresUrl: string
  /** Folder of the embedded ledger. */
  readonly folder: string
}

export interface FirstDecision {
  readonly counted: boolean
  readonly source: string
  readonly ms: number
  readonly warnings: readonly string[]
}

/** Opens a backend as documented and takes one unit at once. `deadlineMs`: undefined for the default deadline. */
export async function firstDecision(store: StoreName, site: StartSite, deadlineMs?: number): Promise<FirstDecision> {
  const warnings: string[] = []
  process.on('warning', ({ message }) => warnings.push(message))
  const options = { scope: `start of ${process.pid}`, ...(deadlineMs && { deadlineMs }) }
  const limiter = createLimiter({ policies: [await policyOf(store, site)], ...options })
  const from = performance.now()
  const { counted, source } = await limiter.take('first')
  return { counted, source, ms: performance.now() - from, warnings }
}

async function policyOf(store: StoreName, site: StartSite): Promise<LimiterOptions['policies'][0]> {
  if (store === 'embedded' || store === 'postgres') {
    const backend = createQuotas(await ledgerOf(store, site))
    return quota({ name: 'calls', limit: 3_000, per: 'day', timeZone: 'Europe/Berlin', backend })
  }
  return { name: 'calls', limit: 1_000, window: '1m', backend: backendOf(store, new Redis(site.redisUrl)) }
}

function backendOf(store: 'redis' | 'leases' | 'synced', client: Redis): Backend {
  if (store === 'redis') return redisBackend(client)
  return store === 'leases' ? leasedBackend(client) : syncedBackend(client)
}

async function ledgerOf(store: 'postgres' | 'embedded', { folder, postgresUrl }: StartSite) {
  if (store === 'embedded') return embeddedLedger({ folder })
  const ledger = postgresLedger(new Pool({ connectionString: postgresUrl }).on('error', () => {}))
  await ledger.migrate()
  return ledger
}
