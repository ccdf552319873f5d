import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Backend } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { limitCases } from './scenes.ts'
import { play } from './virtual-upstream.ts'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

/** Calls of Redis that have no reply yet: virtual time stands still meanwhile. */
let pending = 0

function counted(backend: Backend): Backend {
  return new Proxy(backend, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        const result = value.apply(target, args)
        if (typeof result?.then !== 'function') return result
        pending++
        const done = (): void => void pending--
        result.then(done, done)
        return result
      }
    },
  })
}

async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 2; quiet = pending === 0 ? quiet + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve))
}

// without fields, with Retry-After, and with RateLimit
const SHARED = [
  ['a fixed window', 'no fields'],
  ['a sliding window', 'Retry-After'],
  ['a bucket of 100', 'RateLimit'],
]
const cases = limitCases.filter(({ name, fields }) => SHARED.some(([shape, kind]) => shape === name && kind === fields))

test.each(cases)(
  'two processes that share Redis use $name with $fields together, and are hardly refused',
  async ({ name, shape, fields, announce }) => {
    const clients = [createRedis(`redis://127.0.0.1:${server.port}`), createRedis(`redis://127.0.0.1:${server.port}`)]
    const prefix = `paced:${name}:${fields}:`
    const played = await play({
      limit: 100,
      windowMs: 60_000,
      callers: 50,
      processes: 2,
      minutes: 10,
      announce,
      ...shape,
      settle,
      optionsOf: (clock, process) => ({
        backend: counted(redisBackend(clients[process], { prefix, clock, serverTime: () => clock.now() })),
      }),
    })
    for (const client of clients) client.disconnect()
    const { accepted, refused, perCaller, rejected } = played
    console.log(
      `${name}, ${fields}: accepted ${accepted}, refused ${refused}, per caller ${Math.min(...perCaller)} to ${Math.max(...perCaller)}, rejected ${rejected}`,
    )
    expect(refused / (accepted + refused)).toBeLessThanOrEqual(0.01)
    expect(accepted).toBeGreaterThanOrEqual(970)
    expect(rejected).toBe(0)
  },
)
