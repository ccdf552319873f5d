import { once } from 'node:events'
import { createInflightLimiter, type InflightBackend, type InflightLimiter, type Permit } from '@sluice/limiter-core'
import { createRedis, type RedisInflightOptions, redisInflight } from '@sluice/redis'

// a process of a fleet that holds permits on request of the test

let client: ReturnType<typeof createRedis>
let backend: InflightBackend
let cap: InflightLimiter
let lost = 0
const permits: Permit[] = []
const unhandled: string[] = []

process.on('unhandledRejection', (error) => unhandled.push(String(error)))

export async function join(url: string, limit: number, options: RedisInflightOptions): Promise<void> {
  client = createRedis(url)
  if (client.status !== 'ready') await once(client, 'ready')
  backend = redisInflight(client, options)
  cap = createInflightLimiter({ name: 'fleet', limit, backend })
}

/** Makes the given number of concurrent requests. Returns the number of permits granted. */
export async function acquire(times: number, key = 'k'): Promise<number> {
  const asked = await Promise.all(Array.from({ length: times }, () => cap.acquire(key)))
  const given = asked.filter((permit) => permit !== undefined)
  for (const permit of given) permit.lost.addEventListener('abort', () => lost++)
  permits.push(...given)
  return given.length
}

/** Releases the oldest permits. Returns the number of permits still held. */
export function release(times: number): number {
  for (const permit of permits.splice(0, times)) permit.release()
  return permits.length
}

/**
 * Acquires and releases the given number of times, several at once. Returns the number of granted permits, and the
 * maximum number of holders counted across all processes.
 */
export async function work(times: number, atOnce: number): Promise<{ got: number; most: number }> {
  let got = 0
  let most = 0
  const worker = async (): Promise<void> => {
    for (let turn = 0; turn < times; turn++) {
      const permit = await cap.acquire('k')
      if (!permit) continue
      got++
      most = Math.max(most, await client.incr('holders'))
      await client.decr('holders')
      permit.release()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { got, most }
}

export function count(): Promise<number> {
  return Promise.resolve(cap.count('k'))
}

export function seen(): { readonly lost: number; readonly unhandled: readonly string[] } {
  return { lost, unhandled }
}

export async function leave(): Promise<void> {
  await backend.close?.()
}
