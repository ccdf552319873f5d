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
  /** Duration of the slowest of five decisions about other keys that follow. */
  readonly laterMs: number
  readonly warnings: readonly string[]
}

/** Opens a backend as documented and takes one unit at once, within the default deadline. */
export async function firstDecision(store: StoreName, site: StartSite): Promise<FirstDecision> {
  const warnings: string[] = []
  process.on('warning', ({ message }) => warnings.push(message))
  const limiter = createLimiter({ policies: [await policyOf(store, site)], scope: `start of ${process.pid}` })
  const take = async (key: string) => {
    const from = performance.now()
    const { counted, source } = await limiter.take(key)
    return { counted, source, ms: performance.now() - from }
  }
  const first = await take('first')
  const later: number[] = []
  for (let key = 0; key < 5; key++) later.push((await take(`key ${key}`)).ms)
  return { ...first, laterMs: Math.max(...later), warnings }
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
