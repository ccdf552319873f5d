import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, jest } from '@jest/globals'
import { fileSource, postgresSource, redisSource, urlSource } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { Redis as Redis5 } from 'ioredis5'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis5'
import { memoryFolder } from '../../services/memory-folder.ts'
import { startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { DocumentServer } from './document-server.ts'
import { type SourceStage, sourceContract } from './source-contract.ts'

jest.setTimeout(120_000)

describe('fileSource', () => {
  sourceContract(async () => {
    const parent = memoryFolder('sluice-source-')
    const [folder, away] = [join(parent, 'mounted'), join(parent, 'away')]
    const path = join(folder, 'policies.yaml')
    await rename(memoryFolder('sluice-source-'), folder)
    return {
      source: () => fileSource(path),
      write: async (text) => {
        await writeFile(`${path}~`, text)
        await rename(`${path}~`, path)
      },
      remove: () => rm(path, { force: true }),
      down: () => rename(folder, away),
      up: () => rename(away, folder),
      stop: () => rm(parent, { recursive: true }),
    }
  })
})

describe.each([true, false])('urlSource, with an ETag: %s', (etags) => {
  sourceContract(async () => {
    const server = new DocumentServer()
    server.etags = etags
    await server.start()
    const withLogin = (): string => server.url.replace('//', '//admin:hunter2@').concat('?token=hunter2')
    return {
      source: (clock) => urlSource(withLogin(), { timeoutMs: '10s', clock }),
      write: async (text) => {
        server.text = text
      },
      remove: async () => {
        server.text = undefined
      },
      down: () => server.stop(),
      up: () => server.start(),
      stop: () => server.stop(),
    }
  })
})

describe.each([
  ['ioredis 6', (server: RedisServer) => server.client()],
  [
    'ioredis 5',
    (server: RedisServer) => {
      const client = new Redis5({ port: server.port, host: '127.0.0.1', disconnectTimeout: 100 })
      client.on('error', () => {})
      return client
    },
  ],
  [
    'node-redis 6',
    async (server: RedisServer) => {
      const client = createClient({ url: server.url })
      client.on('error', () => {})
      return client.connect()
    },
  ],
  [
    'node-redis 5',
    async (server: RedisServer) => {
      const client = createClient5({ url: server.url })
      client.on('error', () => {})
      return client.connect()
    },
  ],
])('redisSource with %s', (_name, connect) => {
  sourceContract(async (): Promise<SourceStage> => {
    const server = await startRedis()
    const client = await connect(server)
    const source = (clock: FakeClock) => redisSource(client, 'policies', { timeoutMs: '2s', clock })
    return {
      source,
      write: async (text) => {
        await source(new FakeClock()).publish(text)
      },
      remove: async () => {
        await server.client().del('policies')
      },
      down: async () => {
        await server.client().call('SAVE')
        await server.kill()
      },
      up: () => server.start(),
      stop: async () => {
        if ('destroy' in client) client.destroy()
        else client.disconnect()
        await server.stop()
      },
    }
  })
})

describe('postgresSource', () => {
  sourceContract(async () => {
    const server = await startPostgres({ fsync: false })
    const pool = server.pool()
    const source = (clock: FakeClock) => postgresSource(pool, { timeoutMs: '2s', clock })
    return {
      source,
      write: async (text) => {
        await source(new FakeClock()).publish(text)
      },
      remove: async () => {
        await pool.query('delete from sluice_policies').catch(() => {})
      },
      down: () => server.kill(),
      up: () => server.start(),
      stop: () => server.stop(),
    }
  })
})
