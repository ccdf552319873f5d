import assert from 'node:assert/strict'
import { beforeAll, describe, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { redisCounters } from '@sluice/counters/redis'
import { createInflightLimiter, createLimiter } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import {
  leasedBackend,
  redisBackend,
  redisChannel,
  redisInflight,
  redisRecords,
  redisSums,
  syncedBackend,
} from '@sluice/redis'
import { redisUniques } from '@sluice/redis/uniques'
import { eventually } from '../../services/eventually.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

/** A command that ran in a script, and the keys that the call of the script declared. */
interface Ran {
  readonly command: readonly string[]
  readonly declared: readonly string[]
}

/** Commands that Redis 6.2 knows, and where their keys are. */
const ONE_KEY = [
  ...[
    'GET',
    'SET',
    'PEXPIRE',
    'PEXPIREAT',
    'PTTL',
    'STRLEN',
    'HSET',
    'HGET',
    'HMGET',
    'HDEL',
    'HLEN',
    'HGETALL',
    'HEXISTS',
    'HSETNX',
  ],
  ...['HINCRBY', 'ZADD', 'ZREM', 'ZRANGE', 'ZCARD', 'ZSCORE', 'ZRANGEBYSCORE', 'ZREMRANGEBYSCORE'],
  ...['XADD', 'XRANGE', 'XDEL'],
]
const ALL_KEYS = ['DEL', 'UNLINK', 'EXISTS', 'RENAME', 'PFMERGE', 'PFCOUNT']
const NO_KEY = ['TIME', 'INFO']
/** Options that came after Redis 6.2, by command. */
const NEWER: Readonly<Record<string, readonly string[]>> = {
  PEXPIRE: ['NX', 'XX', 'GT', 'LT'],
  PEXPIREAT: ['NX', 'XX', 'GT', 'LT'],
  SET: ['IFEQ', 'IFGT'],
}
const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

const redis = redisClientForTests()
const ran: Ran[] = []

beforeAll(async () => {
  const monitor = await redis.server.client().monitor()
  let declared: readonly string[] = []
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    const [name, , count] = args
    if (source !== 'lua') declared = /^eval/i.test(name) ? args.slice(3, 3 + Number(count)) : []
    else ran.push({ command: [name.toUpperCase(), ...args.slice(1)], declared })
  })
})

function keysOf([name, ...rest]: readonly string[]): readonly string[] {
  if (NO_KEY.includes(name)) return []
  if (ALL_KEYS.includes(name)) return rest
  assert.ok(ONE_KEY.includes(name), `${name} is not in the list of commands of Redis 6.2`)
  return rest.slice(0, 1)
}

async function limits(): Promise<void> {
  const policies = ALGORITHMS.map((algorithm) => ({ name: algorithm, algorithm, limit: 3, window: '1m' }) as const)
  const makers = { redisBackend, leasedBackend, syncedBackend }
  for (const [scope, make] of Object.entries(makers)) {
    const backend = make(redis.client)
    // a synced backend counts no logs
    const counted = make === syncedBackend ? policies.filter(({ algorithm }) => algorithm !== 'sliding-log') : policies
    for (const some of [...counted.map((policy) => [policy]), counted]) {
      const limiter = createLimiter({ scope: `${scope} ${some.length}`, policies: some, backend, deadlineMs: 10_000 })
      for (let time = 0; time < 5; time++) await limiter.take('key')
      await limiter.peek('key')
      await limiter.charge('key', 1)
      await limiter.charge('key', -1)
      await limiter.reset('key')
      await limiter.close()
    }
    await (backend as { close?(): Promise<void> }).close?.()
  }
}

async function others(): Promise<void> {
  const cap = createInflightLimiter({ limit: 2, backend: redisInflight(redis.client) })
  const permits = [await cap.acquire('key'), await cap.acquire('key'), await cap.acquire('key')]
  for (const permit of permits) permit?.release()
  const heard: string[] = []
  const channels = [redisChannel(redis.client, { tickMs: 10 }), redisChannel(redis.client, { tickMs: 10 })]
  for (const channel of channels) channel.subscribe('topic', (message) => heard.push(Buffer.from(message).toString()))
  await eventually(
    async () => {
      await channels[0].publish('topic', Buffer.from('hello'))
      return heard.length > 1
    },
    { what: 'a message' },
  )
  const sums = redisSums(redis.client, { name: 'sums', tickMs: 10 })
  sums.add('a', 2)
  await eventually(async () => sums.get('a') === 2, { what: 'a sum' })
  const uniques = redisUniques(redis.client, { name: 'uniques', tickMs: 10 })
  uniques.add('a')
  await eventually(async () => uniques.count() === 1, { what: 'a count of keys' })
  const records = redisRecords(redis.client)
  await records.put('a', 'text', Date.now() + 60_000)
  assert.deepEqual(await records.all(), ['text'])
  const counters = redisCounters(redis.client, { name: 'usage', ledger: new MemoryLedger(systemClock) })
  await counters.increment('a', 1)
  await counters.read('a')
  await Promise.all([...channels, sums, uniques, counters, cap].map((one) => (one as { close(): unknown }).close()))
}

describe('the scripts', () => {
  test('use commands of Redis 6.2, and only the keys that they declare', async () => {
    await limits()
    await others()
    await eventually(async () => ran.some(({ command: [, key] }) => key?.includes('usage')), { what: 'all commands' })
    const names = new Set(ran.map(({ command: [name] }) => name))
    assert.ok(names.size > 15, [...names].join())
    for (const { command, declared } of ran) {
      const undeclared = keysOf(command).filter((key) => !declared.includes(key))
      assert.deepEqual(undeclared, [], `${command.join(' ')} of a script with the keys ${declared.join(' ')}`)
      const newer = command.slice(2).filter((part) => NEWER[command[0]]?.includes(part.toUpperCase()))
      assert.deepEqual(newer, [], command.join(' '))
    }
  })
})
