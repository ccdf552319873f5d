import { once } from 'node:events'
import { createConnection } from 'mysql2/promise'
import { startChild } from '../run/child.mjs'
import { freePort } from '../run/free-port.mjs'

const mariadbHost = new URL('./mariadb-host.mjs', import.meta.url)

/** A separate, empty MariaDB server on loopback. */
export async function startMariadb() {
  const port = await freePort()
  const host = startChild(mariadbHost, { port })
  await once(host, 'message')
  const admin = await createConnection({ host: '127.0.0.1', port, user: 'root' })
  const [[{ version }]] = await admin.query('SELECT VERSION() AS version')
  await admin.query('CREATE DATABASE limits')
  await admin.end()
  return { port, version: /^[\d.]+/.exec(version)[0], close: () => host.kill() }
}
