import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
import { allStarted, orStopped, stopAll } from '../all-started.ts'
import { eventually } from '../eventually.ts'
import { onFreePorts } from '../free-port.ts'
import { type RedisServer, startRedis, startServer } from './redis-server.ts'

const NAME = 'main'
const REPLICAS = 2

export interface SentinelOptions {
  /** How long the master may be silent before the Sentinel declares it down. Default: 1,000. */
  readonly downAfterMs?: number
  /** Additional arguments of the master and of its replicas. */
  readonly args?: readonly string[]
}

/** A master with two replicas, and a Sentinel that promotes a replica if the master is down. */
export async function startSentinel({ downAfterMs = 1_000, args = [] }: SentinelOptions = {}): Promise<Sentinel> {
  const quick = ['--repl-diskless-sync-delay', '0', ...args]
  const master = await startRedis({ args: quick })
  const ofMaster = ['--replicaof', '127.0.0.1', String(master.port), ...quick]
  const replicas = Array.from({ length: REPLICAS }, () => startRedis({ args: ofMaster }))
  const [watcher, ...nodes] = await allStarted([
    startWatcher(master.port, downAfterMs),
    Promise.resolve(master),
    ...replicas,
  ])
  return orStopped(new Sentinel(watcher as RedisServer, nodes), async (sentinel) => {
    await sentinel.hurry()
    await eventually(() => sentinel.isReady(), { what: 'a Sentinel that knows its replicas' })
  })
}

function startWatcher(masterPort: number, downAfterMs: number): Promise<RedisServer> {
  const lines = [
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} 5000`,
  ]
  // the Sentinel writes its state to this file
  const config = (folder: string) => {
    const path = join(folder, 'sentinel.conf')
    writeFileSync(path, `${lines.join('\n')}\n`)
    return [path, '--sentinel', '--dir', folder, '--loglevel', 'warning']
  }
  return onFreePorts((port) => startServer(port, config))
}

/** Created by `startSentinel`. */
export class Sentinel {
  readonly watcher: RedisServer
  /** The first master, followed by the replicas. */
  readonly nodes: readonly RedisServer[]
  /** Connection options for clients. `name` is the name of the master. */
  readonly options: { readonly name: string; readonly sentinels: { host: string; port: number }[] }
  readonly #clients: Redis[] = []
  readonly #admin: Redis

  constructor(watcher: RedisServer, nodes: readonly RedisServer[]) {
    this.watcher = watcher
    this.nodes = nodes
    this.options = { name: NAME, sentinels: [{ host: '127.0.0.1', port: watcher.port }] }
    this.#admin = watcher.client()
  }

  /** Lets the Sentinel ask its nodes for their roles more often: by default, it demotes a former master after 10 s. */
  async hurry(): Promise<void> {
    await this.#admin.call('SENTINEL', 'DEBUG', 'info-period', '500', 'publish-period', '500')
  }

  /** The current master according to the Sentinel. */
  async master(): Promise<RedisServer> {
    const [, port] = (await this.#admin.call('SENTINEL', 'get-master-addr-by-name', NAME)) as [string, string]
    return this.nodes.find((node) => node.port === Number(port)) as RedisServer
  }

  /** Whether the Sentinel could promote either replica, because both are synchronized. */
  async isReady(): Promise<boolean> {
    const known = (await this.#admin.call('SENTINEL', 'replicas', NAME)) as string[][]
    const inStep = known.filter((fields) => fields[fields.indexOf('master-link-status') + 1] === 'ok')
    return inStep.length === REPLICAS
  }

  /** Resumes a paused former master, and waits until it is a replica. */
  async demotes(stopped: RedisServer): Promise<void> {
    stopped.resume()
    const client = stopped.client()
    await eventually(async () => (await client.role())[0] === 'slave', { what: 'a demoted master' })
  }

  /** Creates a client of the master for the test itself, ioredis 6. `stop` closes it. */
  client(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    const client = new Redis({ ...this.options, disconnectTimeout: 100, ...options })
    // tests kill servers on purpose; commands still reject
    client.on('error', () => {})
    this.#clients.push(client)
    return client
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    await stopAll([this.watcher, ...this.nodes])
  }
}
