import { afterAll, beforeAll, test } from '@jest/globals'
import { createRedis } from '@sluice/redis'
import { type RedisUniques, redisUniques } from '@sluice/redis/uniques'
import { RedisHyperLogLog } from '@sluice/sketches'
import { eventually } from '../../services/eventually.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

let server: RedisServer
let clients: ReturnType<typeof createRedis>[]
let members: RedisUniques[]
const told: unknown[] = []
const all = new RedisHyperLogLog()
let added = 0

beforeAll(async () => {
  server = await startRedis()
  clients = [0, 1, 2].map(() => createRedis(server.url))
  const observers = [{ event: (_name: string, data: object) => told.push(data) }]
  members = clients.map((client) => redisUniques(client, { name: 'clients', tickMs: 10, observers }))
})

afterAll(async () => {
  await Promise.all(members.map((member) => member.close()))
  for (const client of clients) client.disconnect()
  await server.stop()
})

function addSome(): void {
  for (const member of members) {
    for (let n = 0; n < 500; n++) {
      const key = `client ${added++}`
      member.add(key)
      all.add(key)
    }
  }
}

/** The count read by a plain client, and by each process. */
async function agreed(): Promise<void> {
  const plain = server.client()
  const agrees = async (): Promise<boolean> =>
    (await plain.pfcount('sluice:{clients}:uniques')) === all.count() &&
    members.every((member) => member.count() === all.count())
  await eventually(agrees, { what: 'the count of all' })
  plain.disconnect()
}

const faults: Readonly<Record<string, () => Promise<void>>> = {
  nothing: async () => {},
  'a pause longer than the timeout': async () => {
    server.pause()
    addSome()
    await eventually(async () => told.some((data) => 'failed' in (data as object)), { what: 'the outage' })
    server.resume()
  },
  'a crash that loses all data': async () => {
    await server.kill()
    addSome()
    await server.start()
  },
  'an immediate restart': () => server.restart(),
  'lost connections': async () => {
    await server.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
  'lost scripts': async () => {
    await server.client().script('FLUSH')
  },
  'flushed data': async () => {
    await server.client().flushall()
  },
}

test.each(Object.keys(faults))('after %s no item is missing that a running process saw', async (fault) => {
  addSome()
  await agreed()
  told.length = 0
  await faults[fault]()
  addSome()
  await agreed()
})
