import { PGlite } from '@electric-sql/pglite'
import { type PostgresBackend, postgresBackend } from '@sluice/postgres'
import { Pool } from 'pg'

export interface Store {
  readonly backend: PostgresBackend
  readonly where: string
  close(): Promise<void>
}

/** PostgreSQL if DATABASE_URL is set, otherwise a folder of this process. */
export async function openStore({
  DATABASE_URL: url,
  FOLDER: folder = '.llm-gateway',
}: NodeJS.ProcessEnv): Promise<Store> {
  const pool = url ? new Pool({ connectionString: url, connectionTimeoutMillis: 2_000 }) : undefined
  const embedded = pool ? undefined : await PGlite.create(`${folder}/pglite`)
  // a bill must survive a crash of the database, too
  const backend = postgresBackend(pool ?? (embedded as PGlite), { durable: true })
  await backend.migrate()
  const close = async (): Promise<void> => {
    await pool?.end()
    await embedded?.close()
  }
  return { backend, where: pool ? 'PostgreSQL' : `the folder ${folder}`, close }
}
