import { embeddedLedger, postgresLedger } from '@sluice/counters/postgres'
import type { Backend } from '@sluice/express'
import { postgresBackend } from '@sluice/postgres'
import { createQuotas, type Quotas } from '@sluice/quotas'
import { Pool } from 'pg'

export interface Counts {
  readonly backend: Backend
  readonly quotas: Quotas
}

/** Counts in PostgreSQL if DATABASE_URL is set, otherwise in a folder of this process. */
export async function openStore({ DATABASE_URL: url, FOLDER: folder = '.llm-gateway' }: NodeJS.ProcessEnv) {
  const pool = url ? new Pool({ connectionString: url, connectionTimeoutMillis: 2_000 }) : undefined
  const ledger = pool ? postgresLedger(pool) : await embeddedLedger({ folder })
  const backend = postgresBackend(ledger.sql)
  await ledger.migrate()
  await backend.migrate()
  const quotas = createQuotas(ledger)
  const close = async (): Promise<void> => {
    await quotas.close()
    await ledger.close()
    await pool?.end()
  }
  return { backend, quotas, where: pool ? 'PostgreSQL' : `the folder ${folder}`, close }
}
