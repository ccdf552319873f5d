import { stopAll } from '../../services/all-started.ts'
import { eventually } from '../../services/eventually.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { startRedis } from '../../services/redis/redis-server.ts'
import { startSentinel } from '../../services/redis/sentinel.ts'
import { epochNow, Fleet, lasting } from '../fleet.ts'
import { holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'

const LIMIT = 50
/**
 * How long a Sentinel takes to detect the failure, elect a master and announce it, with `down-after-milliseconds 1000`.
 */
const FAILOVER_MS = 4_000
/** node-redis accepts a new master only when the Sentinel has told it to all replicas, and asks once a second. */
const NODE_REDIS_MS = 3_000

interface Bench {
  readonly fleet: Fleet
}

/** A replica is promoted. */
export const failovers: Group<Bench> = {
  name: 'another Redis takes over',
  start: async () => ({ fleet: Fleet.start() }),
  stop: ({ fleet }) => fleet.stop(),
  rows: [
    sentinelRow('kill'),
    sentinelRow('pause'),
    { id: 'R13', fault: 'a replica that is 2 s behind is promoted', run: promotesLagging },
  ],
}

function sentinelRow(how: 'kill' | 'pause'): Row<Bench> {
  const run = async ({ fleet }: Bench, findings: Findings): Promise<void> => {
    const sentinel = await startSentinel()
    try {
      const first = await sentinel.master()
      await fleet.open({ address: sentinel.options })
      const passed = await fleet.through(async () => {
        const from = epochNow()
        await first[how]()
        await eventually(async () => (await sentinel.master()) !== first, { what: 'a new master' })
        await fleet.ready()
        const to = epochNow()
        if (how === 'pause') await sentinel.demotes(first)
        return { from, to }
      })
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      const boundMs = FAILOVER_MS + (fleet.client === 'node-redis' ? NODE_REDIS_MS : 0)
      findings.atMost('without a store for', passed.timeline.backAfterMs(passed.from + 100), boundMs, ' ms')
    } finally {
      await sentinel.stop()
    }
  }
  const fault = how === 'kill' ? 'the master is killed' : 'the master is stopped, and wakes up as a replica'
  return { id: 'R12', fault: `Sentinel: ${fault}`, run }
}

/**
 * Asynchronous replication loses the latest acknowledged writes, which processes carry over from what they know of a
 * key.
 */
async function promotesLagging({ fleet }: Bench, findings: Findings): Promise<void> {
  const master = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] })
  const behind = await startProxy(master.port)
  const [replica, address] = await Promise.all([
    startRedis({ args: ['--replicaof', '127.0.0.1', String(behind.port)] }),
    startProxy(master.port),
  ])
  try {
    await eventually(async () => (await replica.client().info('replication')).includes('master_link_status:up'), {
      what: 'a replica in step',
    })
    await fleet.open({ address: { url: address.url }, limit: LIMIT })
    const passed = await fleet.through(
      async () => {
        behind.blackHole()
        await lasting(2_000)
        const from = epochNow()
        await master.kill()
        await replica.client().replicaof('NO', 'ONE')
        address.retarget(replica.port)
        return { from, to: epochNow() }
      },
      { guarded: ['newcomer'] },
    )
    const { timeline } = passed
    const newcomer = timeline.samples.filter(({ key }) => key === 'newcomer')
    const admitted = newcomer.filter(({ allowed }) => allowed).length
    findings.exactly(
      `of ${newcomer.length} of a key with limit ${LIMIT} that ended meanwhile admitted`,
      admitted,
      LIMIT,
    )
    findings.always('it hardly tried', newcomer.length > 2 * LIMIT)
    holdsAlways(findings, passed)
    staysDenied(findings, timeline)
    isUsedAgain(findings, passed)
    const acknowledged = timeline.samples.filter(({ policy, counted }) => policy === 'counter' && counted).length
    findings.note(`of ${acknowledged} acknowledged the new master counts ${await fleet.counted(replica.client())}`)
  } finally {
    await stopAll([address, behind, replica, master])
  }
}
