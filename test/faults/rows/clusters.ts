import { hashSlot } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { NODE_TIMEOUT_MS, type RedisCluster, startRedisCluster } from '../../services/redis/redis-cluster.ts'
import type { RedisServer } from '../../services/redis/redis-server.ts'
import { epochNow, Fleet, lasting, USERS } from '../fleet.ts'
import { countsAgree, holdsAlways, staysDenied } from '../report/bounds.ts'
import { admitsExactly } from '../report/exactness.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group } from '../report/row.ts'
import { reshard } from '../reshard.ts'

const MOVED_SLOTS = 1_500

interface Bench {
  readonly fleet: Fleet
  readonly cluster: RedisCluster
}

const onCluster: Pick<Group<Bench>, 'start' | 'stop'> = {
  start: async () => ({ fleet: Fleet.start(4), cluster: await startRedisCluster() }),
  stop: async ({ fleet, cluster }) => {
    await fleet.stop()
    await cluster.stop()
  },
}

/** Redis Cluster, three masters with a replica each. */
export const clusters: Group<Bench> = {
  name: 'Redis Cluster',
  ...onCluster,
  rows: [
    {
      id: 'R22',
      fault: 'Cluster 3+3: 4 processes × 5,000 at once, limit 1,000',
      run: ({ fleet, cluster }, findings, form) => admitsExactly(fleet, addressOf(cluster), findings, form),
    },
    { id: 'R15', fault: 'Cluster: a master is killed', run: losesMaster },
  ],
}

/** A separate cluster, so that other rows do not start with the state that this row leaves. */
export const movedSlots: Group<Bench> = {
  name: 'Redis Cluster, moving slots',
  ...onCluster,
  rows: [{ id: 'R14', fault: `Cluster: ${MOVED_SLOTS} slots move to another master`, run: moves }],
}

function addressOf({ ports }: RedisCluster): { nodes: { host: string; port: number }[] } {
  return { nodes: ports.map((port) => ({ host: '127.0.0.1', port })) }
}

async function moves({ fleet, cluster }: Bench, findings: Findings): Promise<void> {
  const [from, to] = cluster.nodes
  if (from === undefined || to === undefined) throw new Error('no masters')
  // delays of a busy machine are not a fault of the cluster
  await fleet.open({ address: addressOf(cluster), deadlineMs: 1_000 })
  let keys = 0
  const passed = await fleet.through(async () => {
    const at = epochNow()
    // slots with keys first
    const held = USERS.map((user) => hashSlot(user)).filter((slot) => slot < 16_384 / 3 - 1)
    const slots = [...new Set([...held, ...Array.from({ length: MOVED_SLOTS }, (_, slot) => slot)])]
    keys = await reshard(cluster, from, to, slots.slice(0, MOVED_SLOTS))
    return { from: at, to: epochNow() }
  })
  findings.atLeast('keys moved', keys, 5)
  findings.exactly('uncounted', passed.timeline.samples.filter(({ counted }) => !counted).length, 0)
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  countsAgree(findings, passed.timeline, await fleet.counted(cluster.client()), [passed])
}

async function losesMaster({ fleet, cluster }: Bench, findings: Findings, form: Form): Promise<void> {
  // other tests may keep the machine busy for as long as a deadline
  await fleet.open({ address: addressOf(cluster), ...(form === 'short' ? { deadlineMs: 1_000 } : {}) })
  const killed = await cluster.masterOf(hashSlot('user 1'))
  const killedId = await cluster.idOf(killed)
  const isTheirs = new Map<string, boolean>()
  for (const user of USERS) isTheirs.set(user, (await cluster.masterOf(hashSlot(user))) === killed)
  let served = Number.NaN
  const passed = await fleet.through(async () => {
    const from = epochNow()
    await killed.kill()
    await lasting(300)
    // hundreds in one turn: requests that fail at once do so before any answer arrives
    await Promise.all(fleet.apps.map((app) => app.call('takeEach', [...USERS, ...USERS, ...USERS, ...USERS])))
    const elected = eventually(() => isServed(cluster, killed), { what: 'an elected master', timeoutMs: 10_000 })
    // measures from the promotion of the new master, however it was promoted
    await elected.catch(() => cluster.takeOver(killedId))
    await eventually(() => isServed(cluster, killed), { what: 'a new master' })
    served = epochNow()
    await eventually(() => isCounted(fleet), { what: 'an answer of the new master' })
    return { from, to: epochNow() }
  })
  const { timeline, from, to } = passed
  findings.note(`the cluster took ${Math.round(served - from)} ms, with a node timeout of ${NODE_TIMEOUT_MS} ms`)
  findings.atMost('store-backed after that', to - served, 1_000, ' ms')
  findings.exactly(
    'breakers opened',
    timeline.sum(({ opened }) => opened),
    0,
  )
  const others = timeline.between(from, to).filter(({ key }) => isTheirs.get(key) === false)
  const uncounted = others.filter(({ counted }) => !counted)
  findings.atMost('of other shards uncounted', (100 * uncounted.length) / others.length, 0.1, ' %')
  holdsAlways(findings, passed)
  staysDenied(findings, timeline)
}

/** Waits until the slot of `user 1` has a running master. */
async function isServed(cluster: RedisCluster, killed: RedisServer): Promise<boolean> {
  const master = (await cluster.findMaster(hashSlot('user 1'))) ?? killed
  return master !== killed
}

async function isCounted({ apps }: Fleet): Promise<boolean> {
  const taken = await Promise.all(apps.map((app) => app.call('take', 'counter', 'user 1')))
  return taken.every(({ counted }) => counted)
}
