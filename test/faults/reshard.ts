import type { Redis } from 'ioredis'
import type { RedisCluster } from '../services/redis/redis-cluster.ts'
import type { RedisServer } from '../services/redis/redis-server.ts'

/**
 * Moves slots from one master to another while both are in use, as `redis-cli --cluster reshard` does. Returns the
 * number of moved keys.
 */
export async function reshard(
  { nodes }: RedisCluster,
  from: RedisServer,
  to: RedisServer,
  slots: readonly number[],
): Promise<number> {
  const [source, target] = [from.client(), to.client()]
  const [sourceId, targetId] = [await idOf(source), await idOf(target)]
  const masters = await mastersOf(nodes.map((node) => node.client()))
  let keys = 0
  for (const slot of slots) {
    await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId)
    await source.cluster('SETSLOT', slot, 'MIGRATING', targetId)
    keys += await moveKeys(source, to.port, slot)
    // first the node that receives the keys, because otherwise no node would own the slot for a moment
    await target.cluster('SETSLOT', slot, 'NODE', targetId)
    await Promise.all(masters.map((master) => master.cluster('SETSLOT', slot, 'NODE', targetId)))
  }
  return keys
}

/** Nodes that are masters at this time. */
async function mastersOf(clients: readonly Redis[]): Promise<readonly Redis[]> {
  const roles = await Promise.all(clients.map((client) => client.role()))
  return clients.filter((_, index) => roles[index][0] === 'master')
}

async function moveKeys(source: Redis, port: number, slot: number): Promise<number> {
  const keys = await source.cluster('GETKEYSINSLOT', slot, 1_000)
  if (keys.length > 0) await source.call('MIGRATE', '127.0.0.1', port, '', 0, 5_000, 'KEYS', ...keys)
  return keys.length
}

async function idOf(client: Redis): Promise<string> {
  return String(await client.cluster('MYID'))
}
