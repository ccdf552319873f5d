import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { redisBackend } from '@sluice/redis'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import type { ServerFault, StoreKind, StoreServer } from './store-server.ts'

/** Server arguments that the faults require. */
const ARGS = [
  ...['--enable-debug-command', 'yes', '--enable-protected-configs', 'yes', '--busy-reply-threshold', '50'],
  ...['--loading-process-events-interval-bytes', '1024'],
]

/** A Redis without persistence. */
export class RedisStore implements StoreServer {
  readonly redis: RedisServer
  #admin: Redis | undefined

  private constructor(redis: RedisServer) {
    this.redis = redis
  }

  static async start(): Promise<RedisStore> {
    return new RedisStore(await startRedis({ args: ARGS }))
  }

  get port(): number {
    return this.redis.port
  }

  /** The client that causes faults. */
  get admin(): Redis {
    this.#admin ??= this.redis.client()
    return this.#admin
  }

  addressAt(port: number): { readonly url: string } {
    return { url: `redis://127.0.0.1:${port}` }
  }

  backend(): ReturnType<typeof redisBackend> {
    return redisBackend(this.redis.client())
  }

  pause(): void {
    this.redis.pause()
  }

  resume(): void {
    this.redis.resume()
  }

  kill(): Promise<void> {
    return this.redis.kill()
  }

  start(): Promise<void> {
    return this.redis.start()
  }

  async accepted(): Promise<number> {
    const stats = await this.redis.client().info('stats')
    return Number(/total_connections_received:(\d+)/.exec(stats)?.[1])
  }

  async calls(): Promise<number> {
    const stats = await this.redis.client().info('commandstats')
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }

  stop(): Promise<void> {
    return this.redis.stop()
  }
}

function command(...sent: [string, ...string[]]): ServerFault<RedisStore> {
  return {
    fault: sent.join(' '),
    // its answer arrives when the fault is over
    begin: async ({ admin }) => void admin.call(...sent).catch(() => {}),
    end: ({ admin }) => admin.ping(),
  }
}

export const redisKind: StoreKind<RedisStore> = {
  name: 'Redis',
  crash: ['killed (kill -9)', 'restarted empty'],
  counts: 'reported',
  connections: 1,
  cutPerSecond: 2_000,
  nearMs: [20, 5],
  nearDeadlineMs: 50,
  silentBackMs: 2_000,
  start: () => RedisStore.start(),
  stalls: [
    { ...command('CLIENT', 'PAUSE', '2000', 'ALL'), fault: 'CLIENT PAUSE … ALL' },
    { ...command('CLIENT', 'PAUSE', '2000', 'WRITE'), fault: 'CLIENT PAUSE … WRITE' },
    { ...command('DEBUG', 'SLEEP', '2'), fault: 'DEBUG SLEEP', isVariant: true },
  ],
  refusals: [
    {
      fault: 'OOM: memory full under noeviction',
      told: 'OOM',
      begin: ({ admin }) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
      end: ({ admin }) => admin.config('SET', 'maxmemory', '0'),
    },
    {
      fault: 'READONLY: the master became a replica',
      told: 'READONLY',
      begin: ({ admin }) => admin.replicaof('127.0.0.1', 1),
      end: ({ admin }) => admin.replicaof('NO', 'ONE'),
    },
    {
      fault: 'MISCONF: snapshots fail',
      told: 'MISCONF',
      begin: async ({ admin, redis }) => {
        // a folder in the place of the file, which even root cannot replace
        mkdirSync(join(redis.folder, 'dump.rdb'))
        await admin.config('SET', 'save', '3600 1000000', 'stop-writes-on-bgsave-error', 'yes')
        await admin.bgsave()
      },
      end: async ({ admin, redis }) => {
        rmSync(join(redis.folder, 'dump.rdb'), { recursive: true })
        await admin.config('SET', 'save', '')
      },
    },
    {
      fault: "BUSY: another client's script does not end",
      told: 'BUSY',
      begin: async ({ admin }) => void admin.eval('while true do end', 0).catch(() => {}),
      end: ({ redis }) => redis.client({ enableReadyCheck: false }).script('KILL'),
    },
    {
      fault: 'LOADING: Redis reads its data from disk',
      told: 'LOADING',
      // slow enough that loading outlasts the fault, as with millions of keys
      before: async ({ admin }) => {
        await admin.call('DEBUG', 'POPULATE', '20000', 'filler')
        await admin.config('SET', 'key-load-delay', '50')
      },
      begin: async ({ admin }) => void admin.call('DEBUG', 'RELOAD').catch(() => {}),
      end: async ({ admin }) => {
        await admin.ping()
        await admin.config('SET', 'key-load-delay', '0')
        await admin.flushall()
      },
      forgets: true,
    },
    {
      fault: 'NOAUTH: a password is set',
      // the breaker opens before a client reconnects and receives the error
      told: 'CONNECTION',
      begin: async ({ admin }) => {
        await admin.config('SET', 'requirepass', 'secret')
        await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      },
      end: ({ admin }) => admin.config('SET', 'requirepass', ''),
    },
    {
      fault: 'NOPERM: scripts are not allowed any more',
      told: 'NOPERM',
      begin: ({ admin }) => admin.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval'),
      end: ({ admin }) => admin.call('ACL', 'SETUSER', 'default', '+evalsha', '+eval'),
    },
    {
      fault: 'MAXCLIENTS: no connection is left',
      told: 'CONNECTION',
      begin: async ({ admin }) => {
        await admin.config('SET', 'maxclients', '1')
        await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      },
      end: ({ admin }) => admin.config('SET', 'maxclients', '1000'),
    },
  ],
}
