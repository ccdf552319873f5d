import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { counterClient } from '@sluice/counters'
import type { Counters } from '@sluice/fleet/backend'
import { eventually } from '../services/eventually.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate } from '../services/postgres/embedded-template.ts'
import { startPostgres } from '../services/postgres/postgres-server.ts'
import { startRedis } from '../services/redis/redis-server.ts'
import { ExampleProcess } from './example-process.ts'

let service: ExampleProcess | undefined
let folder = ''

beforeEach(() => {
  folder = memoryFolder('sluice-example-')
  copyEmbeddedTemplate(folder)
})
afterEach(async () => {
  await service?.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function started(env: Readonly<Record<string, string>>): Promise<Counters> {
  service = new ExampleProcess('counter-service', { FOLDER: folder, ...env })
  return counterClient({ url: await service.url() })
}

/** Counts one unit with a token and retries until it gets a response, as a correct client does. */
async function count(counters: Counters, token: string): Promise<void> {
  const answered = (): Promise<boolean> =>
    counters.increment('page:home', 1, { token }).then(
      () => true,
      () => false,
    )
  await eventually(answered, { what: `an answer to ${token}` })
}

test('counts in a folder, and resumes from the state of a killed process', async () => {
  const first = await started({})
  for (let unit = 0; unit < 5; unit++) await count(first, `a-${unit}`)
  await service?.kill()
  const second = await started({})
  await count(second, 'a-4')
  await count(second, 'b-0')
  expect((await second.read('page:home')).value).toBe(6)
  await eventually(async () => service?.output.includes('counted 6') === true, { what: 'a line of 6' })
  expect(await service?.end()).toBe(0)
})

test('counts in Redis and then PostgreSQL, and shows the sum while each component is killed', async () => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const env = { POSTGRES_URL: postgres.url, REDIS_URL: redis.url }
  try {
    let counters = await started(env)
    await count(counters, 'a')
    await postgres.kill()
    await postgres.start()
    await count(counters, 'b')
    await redis.restart()
    await count(counters, 'c')
    await service?.kill()
    counters = await started(env)
    await count(counters, 'd')
    await count(counters, 'a')
    expect(await counters.aggregate('page:')).toBe(4)
    await eventually(async () => service?.output.includes('counted 4') === true, { what: 'a line of 4' })
    expect(await service?.end()).toBe(0)
  } finally {
    await postgres.stop()
    await redis.stop()
  }
})
