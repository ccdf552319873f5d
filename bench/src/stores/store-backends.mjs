import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryBackend } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { redisBackend } from '@sluice/redis'
import { storeBackend } from '@sluice/stores'
import { mysqlStore } from '@sluice/stores/mysql'
import { sqliteStore } from '@sluice/stores/sqlite'
import { Redis } from 'ioredis'
import { createPool } from 'mysql2/promise'
import pg from 'pg'

/** Opens each backend, for a process of an application: `{ backend, close }`. */
export const backends = {
  memory: () => ({ backend: memoryBackend(), close: () => {} }),
  redis: ({ redisPort }) => {
    const client = new Redis(redisPort, '127.0.0.1')
    return { backend: redisBackend(client), close: () => client.disconnect() }
  },
  postgres: async ({ postgresUrl }) => {
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 })
    const backend = postgresBackend(pool)
    await backend.migrate()
    return { backend, close: () => pool.end() }
  },
  mariadb: async ({ mariadbPort }) => {
    const pool = createPool({ host: '127.0.0.1', port: mariadbPort, user: 'root', database: 'limits' })
    const store = mysqlStore(pool)
    await store.migrate()
    return { backend: storeBackend(store), close: () => pool.end() }
  },
  sqlite: () => {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-sqlite-'))
    const database = new DatabaseSync(join(folder, 'limits.db'))
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    const close = () => {
      database.close()
      rmSync(folder, { recursive: true })
    }
    return { backend: storeBackend(sqliteStore(database)), close }
  },
}
