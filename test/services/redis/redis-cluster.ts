import { Cluster, type ClusterOptions } from 'ioredis'
import { allStarted, orStopped, stopAll } from '../all-started.ts'
import { eventually } from '../eventually.ts'
import { onFreePorts } from '../free-port.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

const SLOTS = 16_384
const MASTERS = 3
/** How long a node may be silent before the others declare it failed. */
export const NODE_TIMEOUT_MS = 2_000

/** A Redis Cluster of three masters with a replica each. If a shard has no master, the others still work. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await allStarted(Array.from({ length: 2 * MASTERS }, startNode))
  return orStopped(new RedisCluster(nodes), (cluster) => cluster.form())
}

function startNode(): Promise<RedisServer> {
  return onFreePorts((port, busPort) =>
    startRedis({
      port,
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
        ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--cluster-require-full-coverage', 'no'],
        ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
        // no client is sent to a replica before it is connected to its master
        ...['--repl-ping-replica-period', '1'],
      ],
    }),
  )
}

type NodeOptions = NonNullable<ClusterOptions['redisOptions']>
type TestClusterOptions = Omit<ClusterOptions, 'replyMapping' | 'redisOptions'> & {
  readonly redisOptions?: Omit<NodeOptions, 'replyMapping'>
}

/** Created by `startRedisCluster`. */
export class RedisCluster {
  /** The initial masters, followed by the replica of each. */
  readonly nodes: readonly RedisServer[]
  readonly #clients: Cluster[] = []

  constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes
  }

  get ports(): readonly number[] {
    return this.nodes.map(({ port }) => port)
  }

  get #running(): readonly RedisServer[] {
    return this.nodes.filter(({ pid }) => pid !== -1)
  }

  async form(): Promise<void> {
    await Promise.all(this.nodes.slice(0, MASTERS).map((node, index) => giveSlots(node, index)))
    await Promise.all(this.nodes.map((node) => this.#meet(node)))
    await eventually(() => this.#each(knowsAll), { what: 'a cluster whose nodes know each other' })
    await Promise.all(this.nodes.slice(MASTERS).map((node, index) => this.#replicate(node, index)))
    await eventually(() => this.#each(isWhole), { what: 'a whole cluster' })
  }

  /** Creates a client for the test itself, ioredis 6. `stop` closes it. */
  client(options: TestClusterOptions = {}): Cluster {
    const client = new Cluster(
      this.ports.map((port) => ({ host: '127.0.0.1', port })),
      { ...options, redisOptions: { disconnectTimeout: 100, ...options.redisOptions } },
    )
    // tests kill nodes on purpose; commands still reject
    client.on('error', () => {})
    this.#clients.push(client)
    return client
  }

  /** Waits for the master that serves this slot. On a busy machine a cluster may fail over on its own. */
  async masterOf(slot: number): Promise<RedisServer> {
    let master: RedisServer | undefined
    const isFound = async (): Promise<boolean> => {
      master = await this.findMaster(slot)
      return master !== undefined
    }
    await eventually(isFound, { what: `a master of slot ${slot}` }).catch(async (error) => {
      throw new Error(`${error.message}\n${await this.#views()}`)
    })
    return master as unknown as RedisServer
  }

  /** The master that serves this slot now, according to one view of the cluster. */
  async findMaster(slot: number): Promise<RedisServer | undefined> {
    const running = this.#running
    for (const node of running) {
      const ranges = (await ask(node, 'SLOTS')) as [number, number, [string, number]][]
      const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1]
      const master = running.find((candidate) => candidate.port === port)
      if (master !== undefined) return master
    }
    return undefined
  }

  /** Id of a node, by which replicas refer to their master. */
  async idOf(node: RedisServer): Promise<string> {
    return String(await ask(node, 'MYID'))
  }

  /** Promotes the replica of a dead master without an election, because unlucky elections may take minutes. */
  async takeOver(masterId: string): Promise<void> {
    for (const node of this.#running) {
      const own = String(await ask(node, 'NODES'))
        .split('\n')
        .find((line) => line.includes('myself'))
      if (own?.includes(`slave ${masterId}`)) await ask(node, 'FAILOVER', 'TAKEOVER')
    }
  }

  /** The cluster state as seen by each running node. */
  async #views(): Promise<string> {
    const running = this.#running
    const views = await Promise.all(running.map((node) => ask(node, 'NODES').catch((error: Error) => error.message)))
    return running.map(({ port }, index) => `${port} says\n${views[index]}`).join('\n')
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    await stopAll(this.nodes)
  }

  /** Introduces every node to this one, because gossip alone takes seconds. */
  async #meet(node: RedisServer): Promise<void> {
    const [, busPort] = (await adminOf(node).config('GET', 'cluster-port')) as [string, string]
    const others = this.nodes.filter((other) => other !== node)
    await Promise.all(others.map((other) => ask(other, 'MEET', '127.0.0.1', String(node.port), busPort)))
  }

  async #replicate(node: RedisServer, index: number): Promise<void> {
    await ask(node, 'REPLICATE', String(await ask(this.nodes[index] as RedisServer, 'MYID')))
  }

  async #each(holds: (node: RedisServer) => Promise<boolean>): Promise<boolean> {
    const held = await Promise.all(this.nodes.map(holds))
    return held.every(Boolean)
  }
}

async function giveSlots(node: RedisServer, index: number): Promise<void> {
  const first = Math.ceil((index * SLOTS) / MASTERS)
  const last = Math.ceil(((index + 1) * SLOTS) / MASTERS) - 1
  await ask(node, 'ADDSLOTSRANGE', String(first), String(last))
  // otherwise nodes would have to find out one by one which owner of a slot is the latest
  await ask(node, 'SET-CONFIG-EPOCH', String(index + 1))
}

async function knowsAll(node: RedisServer): Promise<boolean> {
  const lines = String(await ask(node, 'NODES'))
    .trim()
    .split('\n')
  return lines.length === 2 * MASTERS && !lines.some((line) => line.includes('handshake'))
}

/** Whether the view serves every slot and has three masters with one synchronized replica each. */
async function isWhole(node: RedisServer): Promise<boolean> {
  const info = String(await ask(node, 'INFO'))
  const slots = (await ask(node, 'SLOTS')) as unknown[][]
  if (!info.includes('cluster_state:ok') || slots.length !== MASTERS) return false
  const replication = await adminOf(node).info('replication')
  const inStep = replication.includes('role:master') || replication.includes('master_link_status:up')
  return inStep && slots.every(([, , ...served]) => served.length === 2)
}

function ask(node: RedisServer, ...command: string[]): Promise<unknown> {
  return adminOf(node).call('CLUSTER', ...(command as [string]))
}

const admins = new WeakMap<RedisServer, ReturnType<RedisServer['client']>>()

function adminOf(node: RedisServer): ReturnType<RedisServer['client']> {
  const admin = admins.get(node) ?? node.client()
  admins.set(node, admin)
  return admin
}
