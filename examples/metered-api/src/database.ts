import { embeddedLedger, postgresLedger, type SqlLedger } from '@sluice/counters/postgres'
import { Pool } from 'pg'

export interface Database {
  readonly ledger: SqlLedger
  readonly where: string
  close(): Promise<void>
}

/** PostgreSQL if POSTGRES_URL is set, otherwise a folder of this process. */
export async function openDatabase(env: NodeJS.ProcessEnv): Promise<Database> {
  const { POSTGRES_URL: url, FOLDER: folder = '.metered-api' } = env
  if (url === undefined) {
    const ledger = await embeddedLedger({ folder })
    return { ledger, where: `the folder ${folder}`, close: () => ledger.close() }
  }
  // otherwise a silently lost connection blocks for as long as TCP waits
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 5_000 })
  // the next query replaces a broken connection
  pool.on('error', () => {})
  const ledger = postgresLedger(pool)
  await ledger.migrate()
  return { ledger, where: 'PostgreSQL', close: () => pool.end() }
}
