import { hashSlot } from '@sluice/redis'
import type { Cluster, Redis } from 'ioredis'
import { eventually } from '../../services/eventually.ts'
import { type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import type { RedisServer } from '../../services/redis/redis-server.ts'
import { reshard } from '../reshard.ts'
import type { Address } from './member.ts'
import { type Fault, type Servers, serverFaults } from './servers.ts'

/** Number of slots that move together. */
const MOVED = 3
const KEYS = ['own 0', 'own 1', 'own 2', 'shared 0', 'shared 1', 'shared 2', 'shared 3', 'shared 4']
const OVER = async (): Promise<void> => {}

/** Three masters with a replica each. No fault of this cluster loses acknowledged writes. */
export class ClusterServers implements Servers {
  readonly admin: Cluster
  readonly faults: Readonly<Record<string, Fault>>
  readonly #cluster: RedisCluster
  readonly #admins = new Map<RedisServer, Redis>()

  private constructor(cluster: RedisCluster) {
    this.#cluster = cluster
    this.admin = cluster.client()
    this.faults = {
      ...this.#onMasters(),
      'hand over': async (_, strength) => this.#handOver(await this.#masterOf(strength)),
      move: async (_, strength) => this.#move(strength),
    }
  }

  static async start(): Promise<Servers> {
    return new ClusterServers(await startRedisCluster())
  }

  addressOf(): Address {
    return { nodes: this.#cluster.ports.map((port) => ({ host: '127.0.0.1', port })) }
  }

  async stop(): Promise<void> {
    await this.#cluster.stop()
  }

  /** Faults of a server, applied to the master of one of the keys. */
  #onMasters(): Record<string, Fault> {
    const names = Object.keys(serverFaults(this.#cluster.nodes[0], this.#adminOf(this.#cluster.nodes[0])))
    const of = (name: string): Fault => {
      return async (member, strength) => {
        const master = await this.#masterOf(strength)
        const faults = serverFaults(master, this.#adminOf(master))
        return (faults[name] as Fault)(member, strength)
      }
    }
    return Object.fromEntries(names.map((name) => [name, of(name)]))
  }

  /** A replica takes over once it has all data of its master. */
  async #handOver(master: RedisServer): Promise<() => Promise<void>> {
    const [old, admin] = [this.#adminOf(master), this.#adminOf(await this.#replicaOf(master))]
    await eventually(async () => (await admin.info('replication')).includes('master_link_status:up'), {
      what: 'a replica in step',
    })
    await admin.cluster('FAILOVER')
    return async () => {
      // masters vote for one replica of a shard within twice the node timeout, and a replica gives up after 5 s
      for (let asked = 0; asked < 4 && !(await becomesMaster(admin)); asked++) await admin.cluster('FAILOVER')
      await eventually(async () => (await old.role())[0] === 'slave', { what: 'a former master that follows' })
    }
  }

  async #move(strength: number): Promise<() => Promise<void>> {
    const from = await this.#masterOf(strength)
    const masters = await Promise.all(KEYS.map((key) => this.#cluster.masterOf(slotOf(key))))
    const to = masters.find((master) => master !== from)
    if (to === undefined) return OVER
    const slots = KEYS.filter((_, index) => masters[index] === from).map(slotOf)
    await reshard(this.#cluster, from, to, slots.slice(0, MOVED))
    return OVER
  }

  #masterOf(strength: number): Promise<RedisServer> {
    return this.#cluster.masterOf(slotOf(KEYS[Math.floor(strength * KEYS.length)] as string))
  }

  /** Its replica, once the replication is established. */
  async #replicaOf(master: RedisServer): Promise<RedisServer> {
    let replica: RedisServer | undefined
    await eventually(
      async () => {
        const [, , replicas] = (await this.#adminOf(master).role()) as [string, number, [string, string][]]
        replica = this.#cluster.nodes.find(({ port }) => port === Number(replicas[0]?.[1]))
        return replica !== undefined
      },
      { what: 'a replica that follows' },
    )
    return replica as RedisServer
  }

  #adminOf(node: RedisServer): Redis {
    const admin = this.#admins.get(node) ?? node.client()
    this.#admins.set(node, admin)
    return admin
  }
}

const GIVES_UP_MS = 5_500

function becomesMaster(admin: Redis): Promise<boolean> {
  const isMaster = async (): Promise<boolean> => (await admin.role())[0] === 'master'
  return eventually(isMaster, { what: 'a new master', timeoutMs: GIVES_UP_MS }).then(
    () => true,
    () => false,
  )
}

function slotOf(key: string): number {
  return hashSlot(`{${key}}`)
}
