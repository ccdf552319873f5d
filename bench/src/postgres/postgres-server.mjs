import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { startChild } from '../run/child.mjs'
import { freePort } from '../run/free-port.mjs'

const STARTING_UP = '57P03'
const postgresHost = new URL('./postgres-host.mjs', import.meta.url)

/** A separate, empty PostgreSQL server on loopback, and its number of commits. */
export async function startPostgres() {
  const port = await freePort()
  const host = startChild(postgresHost, { port })
  await once(host, 'message')
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  const { rows } = await onceReady(() => pool.query('show server_version'))
  return {
    url,
    version: rows[0].server_version,
    close: async () => {
      await pool.end()
      host.kill()
    },
  }
}

/** Waits until queries succeed: the server accepts connections slightly earlier. */
async function onceReady(query) {
  for (;;) {
    try {
      return await query()
    } catch (error) {
      if (error.code !== STARTING_UP) throw error
      await setTimeout(20)
    }
  }
}
