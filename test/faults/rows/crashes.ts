import { type Bench, groupOf } from '../bench.ts'
import type { Site } from '../children/app.ts'
import { during, type FaultTimes } from '../fleet.ts'
import { allAnswered, countsAgree, DEADLINE_MS, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { quantile } from '../report/timeline.ts'
import { redisKind } from '../stores/redis-store.ts'
import type { StoreBench, StoreKind, StoreServer } from '../stores/store-server.ts'

const LIMIT = 50
/** Maximum number of attempts to connect per second and connection of a process. */
const CONNECTS = 2

/** Redis crashes and restarts empty. */
export const crashes: Group<Bench> = groupOf('Redis crashes', [
  ...crashRows(redisKind),
  { id: 'R45', fault: 'no Redis for 3 s at 4,000 decisions a second', run: writesLittle },
])

/** The server crashes, and starts again with its counts or empty. */
export function crashRows<Server extends StoreServer>(kind: StoreKind<Server>): readonly Row<StoreBench>[] {
  const { name, keepsData } = kind
  const fault = `${name} killed (kill -9), restarted ${keepsData ? 'with its data' : 'empty'} after 2 s`
  return [
    {
      id: 'R4',
      fault: `${fault}, \`'local'\``,
      run: (bench, findings) =>
        throughCrash(bench, findings, { keepsData, rule: 'local', admits: bench.fleet.apps.length * LIMIT }),
    },
    {
      id: 'R4',
      fault: `${fault}, \`{ local: { share: 1/2 } }\``,
      run: (bench, findings) =>
        throughCrash(bench, findings, {
          keepsData,
          rule: { local: { share: 0.5 } },
          admits: LIMIT + bench.fleet.apps.length - 1,
        }),
    },
    comesBackAfter(kind, 4),
  ]
}

interface Case extends Pick<Site, 'rule'> {
  readonly keepsData: boolean
  /** Requests for a key that no process used before. */
  readonly admits: number
}

async function throughCrash(bench: StoreBench, findings: Findings, { keepsData, rule, admits }: Case): Promise<void> {
  const { fleet, server } = bench
  await fleet.open({ address: server.addressAt(server.port), limit: LIMIT, ...(rule === undefined ? {} : { rule }) })
  const passed = await fleet.through(() => crash(bench, 2_000), { guarded: ['newcomer'] })
  const { timeline, from, to } = passed
  // valkey-glide does not refuse commands while it is not connected, so some wait until the breaker opens
  const boundMs = fleet.client === 'valkey-glide' ? DEADLINE_MS + 10 : 10
  findings.atMost('p99 while down', quantile(timeline.between(from, to), 0.99), boundMs, ' ms')
  holdsAlways(findings, passed)
  staysDenied(findings, timeline)
  const newcomer = timeline.samples.filter(({ key }) => key === 'newcomer')
  const admitted = newcomer.filter(({ allowed }) => allowed).length
  findings.atMost(`of ${newcomer.length} of a new key with limit ${LIMIT} admitted`, admitted, admits)
  findings.always('it hardly tried', newcomer.length > admits)
  isUsedAgain(findings, passed)
  if (keepsData) countsAgree(findings, timeline, await fleet.counted(server.backend()), [passed])
}

export function comesBackAfter<Server extends StoreServer>(
  { name, connections }: StoreKind<Server>,
  seconds: number,
): Row<StoreBench> {
  const run = (bench: StoreBench, findings: Findings): Promise<void> =>
    recovers(bench, findings, seconds * 1_000, connections)
  return { id: 'R5', fault: `${name} comes back after ${seconds} s`, run }
}

async function recovers(bench: StoreBench, findings: Findings, downMs: number, connections: number): Promise<void> {
  const { fleet, server } = bench
  await fleet.open({ address: server.addressAt(server.port) })
  let before = 0
  let after = 0
  const passed = await fleet.through(async () => {
    const times = await crash(bench, downMs)
    before = await server.accepted()
    await fleet.ready()
    after = await server.accepted()
    return times
  })
  isUsedAgain(findings, passed)
  findings.atMost('connections a process', Math.max(before, after) / fleet.apps.length, 2 * CONNECTS * connections)
  staysDenied(findings, passed.timeline)
  allAnswered(findings, passed.timeline)
}

async function writesLittle(bench: Bench, findings: Findings): Promise<void> {
  const { fleet, server } = bench
  await fleet.open({ address: server.addressAt(server.port) })
  const passed = await fleet.through(() => crash(bench, 3_000), { perSecond: 4_000 })
  holdsAlways(findings, passed)
  const lines = passed.timeline.reports.map(({ warnings }) => warnings.length)
  findings.atMost('lines of a process in all', Math.max(...lines), 6)
  findings.atLeast('the fewest', Math.min(...lines), 2)
}

function crash({ server }: StoreBench, downMs: number): Promise<FaultTimes> {
  return during(
    downMs,
    () => server.kill(),
    () => server.start(),
  )
}
