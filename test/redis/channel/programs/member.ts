import { systemClock } from '@sluice/limiter-core/backend'
import { createRedis, type RedisChannel, type RedisSums, redisChannel, redisSums } from '@sluice/redis'
import { type SeededRandom, seededRandom } from '@sluice/testkit'
import { Redis as Redis5 } from 'ioredis5'

export const NAMES: readonly string[] = Array.from({ length: 30 }, (_, at) => `cell ${at}`)

export interface Joining {
  readonly url: string
  readonly name: string
  /** The client: created by @sluice/redis, or an ioredis 5 client created by the user. */
  readonly client: 'ours' | 'ioredis 5'
  readonly seed: number
}

let sums: RedisSums
let channel: RedisChannel
let random: SeededRandom
let myName: string
let working = false
let published = 0
const added: Record<string, number> = {}
const received: Record<string, number[]> = {}

/** Connects, subscribes, and works every 2 ms until `rest`. */
export function join({ url, name, client, seed }: Joining): void {
  const redis = client === 'ours' ? createRedis(url) : new Redis5(url, { socketTimeout: 1_000 })
  if (client !== 'ours') redis.on('error', () => {})
  myName = name
  random = seededRandom(seed)
  sums = redisSums(redis as never, { name: 'hits', tickMs: 20 })
  channel = redisChannel(redis as never, { tickMs: 20 })
  channel.subscribe('news', (bytes) => {
    const [from, number] = Buffer.from(bytes).toString().split(' ')
    received[from] ??= []
    received[from].push(Number(number))
  })
  working = true
  work()
}

function work(): void {
  if (!working) return
  const name = random.pick(NAMES) as string
  const amount = random.whole(1_000) - 200
  sums.add(name, amount)
  added[name] = (added[name] ?? 0) + amount
  channel.publish('news', Buffer.from(`${myName} ${published++}`))
  systemClock.after(2, work)
}

/** Number of completed operations. */
export function deeds(): number {
  return published
}

/** Stops working. Returns the added sums and the number of published messages. */
export function rest(): { added: Record<string, number>; published: number } {
  working = false
  return { added, published }
}

/** The sums and messages that it has received. */
export function known(): { sums: Record<string, number>; received: Record<string, number[]> } {
  return { sums: Object.fromEntries(NAMES.map((name) => [name, sums.get(name)])), received }
}

export async function leave(): Promise<void> {
  await Promise.all([sums.close(), channel.close()])
}
