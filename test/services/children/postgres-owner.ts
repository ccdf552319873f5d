import { type PostgresServer, startPostgres } from '../postgres/postgres-server.ts'

let postgres: PostgresServer | undefined

/** Starts a server and pauses it. `backend` is the process that serves a connection. */
export async function own(): Promise<{ pid: number; backend: number; folder: string }> {
  postgres = await startPostgres()
  const client = await postgres.pool().connect()
  const { rows } = await client.query('select pg_backend_pid() as backend')
  postgres.pause()
  return { pid: postgres.pid, backend: rows[0].backend, folder: postgres.folder }
}
