import { once } from 'node:events'
import pg from 'pg'
import { startChild } from './child.mjs'
import { freePort } from './free-port.mjs'

const postgresHost = new URL('./postgres-host.mjs', import.meta.url)

/** An empty PostgreSQL of our own on loopback, and how many commits it has made. */
export async function startPostgres() {
  const port = await freePort()
  const host = startChild(postgresHost, { port })
  await once(host, 'message')
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  const { rows } = await pool.query('show server_version')
  return {
    url,
    version: rows[0].server_version,
    close: async () => {
      await pool.end()
      host.kill()
    },
  }
}
