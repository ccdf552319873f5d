// Durable counters over HTTP: node examples/counter-service/dist/index.js
//
// By default they are stored in the folder .counters. POSTGRES_URL stores them in PostgreSQL; with REDIS_URL as well,
// they are counted in Redis first. PORT: default 3000.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Counters, counterService, createCounters } from '@sluice/counters'
import { embeddedLedger, postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import { createRedis } from '@sluice/redis'
import { Pool } from 'pg'

interface Opened {
  readonly counters: Counters
  readonly where: string
  close(): Promise<void>
}

const { POSTGRES_URL, REDIS_URL, FOLDER = '.counters', PORT = '3000' } = process.env

async function openFolder(folder: string): Promise<Opened> {
  const ledger = await embeddedLedger({ folder })
  return { counters: createCounters({ ledger }), where: `the folder ${folder}`, close: () => ledger.close() }
}

async function openPostgres(url: string): Promise<Opened> {
  // otherwise a silently lost connection blocks for as long as TCP waits
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 5_000 })
  // the next query replaces a broken connection
  pool.on('error', () => {})
  const ledger = postgresLedger(pool)
  await ledger.migrate()
  if (REDIS_URL === undefined) {
    return { counters: createCounters({ ledger }), where: 'PostgreSQL', close: () => pool.end() }
  }
  const redis = createRedis(REDIS_URL)
  const close = async (): Promise<void> => {
    redis.disconnect()
    await pool.end()
  }
  return { counters: redisCounters(redis, { ledger }), where: 'Redis before PostgreSQL', close }
}

const { counters, where, close } = await (POSTGRES_URL ? openPostgres(POSTGRES_URL) : openFolder(FOLDER))
const server = createServer(counterService({ counters }))
await once(server.listen(Number(PORT), '127.0.0.1'), 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
console.log(`counting in ${where}, listening on ${url}`)
console.log(
  `try: curl -X POST ${url}/counters/page:home/increment -H 'content-type: application/json' -d '{"delta":1}'`,
)

let printed = ''
const printing = setInterval(() => {
  const sum = counters.aggregate('').then(
    (value) => `counted ${value}`,
    (error: Error) => `no sum: ${error.message}`,
  )
  void sum.then((line) => {
    if (line !== printed) console.log(line)
    printed = line
  })
}, 1_000)

async function end(): Promise<void> {
  clearInterval(printing)
  server.close()
  server.closeIdleConnections()
  await counters.close().catch((error: Error) => console.error(error.message))
  await close()
}
process.once('SIGINT', end)
process.once('SIGTERM', end)
