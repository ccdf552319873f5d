import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { memoryFolder } from '../../services/memory-folder.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { endOf } from '../../services/processes/node-script.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { DocumentServer } from './document-server.ts'
import { documentOf } from './source-contract.ts'

jest.setTimeout(120_000)

const folder = memoryFolder('sluice-end-')
const server = new DocumentServer()
let redis: RedisServer
let postgres: PostgresServer

beforeAll(async () => {
  writeFileSync(join(folder, 'policies.yaml'), documentOf(1))
  server.text = documentOf(1)
  ;[redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false }), server.start()])
})

afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop(), server.stop(), rm(folder, { recursive: true })])
})

test.each([
  ['fileSource', () => ({ source: `policies.fileSource(${JSON.stringify(join(folder, 'policies.yaml'))})`, end: '' })],
  ['listFile', () => ({ source: `policies.listFile(${JSON.stringify(join(folder, 'policies.yaml'))})`, end: '' })],
  ['urlSource', () => ({ source: `policies.urlSource('${server.url}')`, end: '' })],
  [
    'redisSource',
    () => ({
      source: `policies.redisSource(client = new ioredis.Redis(${redis.port}), 'none')`,
      end: 'client.disconnect()',
    }),
  ],
  [
    'postgresSource',
    () => ({
      source: `policies.postgresSource(client = new pg.Pool({ connectionString: '${postgres.url}' }))`,
      end: 'await client.end()',
    }),
  ],
])('a process that watches a %s ends when its own work has ended', async (_name, parts) => {
  const { source, end } = parts()
  const script = `
    let client
    const source = ${source}
    const read = () => (source.read ?? source.load).call(source).catch(() => {})
    await new Promise((resolve) => {
      const keepAlive = setInterval(() => {}, 1_000)
      source.watch(() => read().then(() => { clearInterval(keepAlive); resolve() }), { clock: core.systemClock, intervalMs: 50 })
    })
    ${end}
    console.log('done')
  `
  const modules = { policies: '@sluice/policies', core: '@sluice/limiter-core/backend', ioredis: 'ioredis', pg: 'pg' }
  expect(await endOf('cjs', { modules, script })).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
})
