import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { type RowStore, storeBackend } from '@sluice/stores'
import { mysqlStore } from '@sluice/stores/mysql'
import { backendContract, rowStoreContract } from '@sluice/testkit'
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { type MysqlServer, startMysql } from '../services/mysql/mysql-server.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { startProxy } from '../services/proxies/tcp-proxy.ts'
import { charge, LIMIT, take, used, within } from './bench.ts'

type Taking = typeof import('./children/mysql-taking.ts')

const PROCESSES = 4
let server: MysqlServer
let pool: Pool
let tables = 0

beforeAll(async () => {
  server = await startMysql()
  pool = createPool(server.address)
}, 120_000)
afterAll(async () => {
  await pool.end().catch(() => {})
  await server.stop()
})

async function migrated(table?: string): Promise<RowStore> {
  const store = mysqlStore(pool, { table })
  await store.migrate()
  return store
}

const emptyStore = (): Promise<RowStore> => migrated(`rows_${tables++}`)

describe('mysqlStore', () => {
  rowStoreContract({ describe, test }, () => migrated())

  test('closes a connection without an answer after a second, so that the pool is not used up', async () => {
    const proxy = await startProxy(server.address.port)
    const few = createPool({ ...server.address, port: proxy.port, connectionLimit: 2, connectTimeout: 500 })
    const store = mysqlStore(few)
    try {
      await store.migrate()
      proxy.blackHole()
      const silent = await Promise.allSettled([store.read(['a']), store.read(['b']), store.read(['c'])])
      expect(silent.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      proxy.heal()
      expect(await store.read(['a', 'b', 'c'])).toEqual([undefined, undefined, undefined])
    } finally {
      await few.end().catch(() => {})
      await proxy.stop()
    }
  })

  test('counts by the clock of the server, in any time zone of the session', async () => {
    const connection = createPool({ ...server.address, connectionLimit: 1 })
    await connection.query("SET time_zone = '+09:00'")
    const now = (await mysqlStore(connection).now?.()) as number
    expect(Math.abs(now - Date.now())).toBeLessThan(1_000)
    await connection.end()
  })

  test('deletes expired rows while others are written', async () => {
    const store = await emptyStore()
    const cells = new Uint8Array(1)
    const write = (key: string, ttlMs: number): Promise<boolean> =>
      store.write([{ key, cells, version: undefined }], { ttlMs })
    for (let row = 0; row < 60; row++) await write(`expired ${row}`, 1)
    for (let row = 0; row < 200; row++) await write(`fresh ${row}`, 60_000)
    const [rows] = await pool.query<(RowDataPacket & { count: number })[]>(
      `SELECT count(*) AS count FROM rows_${tables - 1}`,
    )
    expect(rows[0].count).toBeLessThan(260)
  })
})

describe('storeBackend on MariaDB', () => {
  backendContract(
    { describe, test },
    async (clock) => storeBackend(await emptyStore(), { clock, serverTime: () => clock.now() }),
    {
      histories: 2,
      answersWithoutClock: true,
    },
  )

  test('admits exactly the limit of 4 processes with 200 takes at once', async () => {
    const children: ChildNode<Taking>[] = []
    for (let process = 0; process < PROCESSES; process++)
      children.push(startNode<Taking>('stores/children/mysql-taking.ts'))
    await Promise.all(children.map((child) => child.call('open', server.address)))
    const admitted = await Promise.all(children.map((child) => child.call('takeMany', 'hot', 200, 700)))
    await Promise.all(children.map((child) => child.stop()))
    expect(admitted.reduce((sum, one) => sum + one)).toBe(700)
  }, 60_000)

  test('charges keys that several callers take in different orders, all of them or none', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => migrated('orders')))
    const takes = stores.flatMap((store, index) => {
      const backend = storeBackend(store)
      const keys = index % 2 === 0 ? ['x', 'y', 'z'] : ['z', 'y', 'x']
      return Array.from({ length: 10 }, async () => {
        const { verdicts } = await backend.takeAll(keys.map((key) => charge(backend, 1, key)))
        return verdicts.every(({ allowed }) => allowed)
      })
    })
    expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(LIMIT)
    const backend = storeBackend(stores[0])
    expect(await Promise.all(['x', 'y', 'z'].map((key) => used(backend, key)))).toEqual([LIMIT, LIMIT, LIMIT])
  })

  test('gives up a take at its deadline while the server hangs, and counts it at most once', async () => {
    const backend = storeBackend(await migrated('hangs'))
    await backend.takeAll([charge(backend, 3)])
    server.pause()
    await expect(backend.takeAll([charge(backend)], within(50))).rejects.toMatchObject({ code: 'LATE' })
    server.resume()
    expect([3, 4]).toContain(await used(backend))
    expect(await take(backend)).toBe(true)
  })

  test('decides by the failure rule while the server is gone, and keeps its counts', async () => {
    const backend = storeBackend(await migrated('crashes'))
    await backend.takeAll([charge(backend, 3)])
    await server.kill()
    await expect(backend.takeAll([charge(backend)], within(5_000))).rejects.toMatchObject({ code: 'STORE' })
    const limiter = createLimiter({
      policies: [{ name: 'gone', limit: LIMIT, window: '1h' }],
      backend: storeBackend(mysqlStore(pool)),
      onBackendError: 'deny',
    })
    expect((await limiter.take('a')).allowed).toBe(false)
    await limiter.close()
    await server.start()
    expect(await used(backend)).toBe(3)
    expect(await take(backend)).toBe(true)
  }, 60_000)
})
