import { type Bench, groupOf } from '../bench.ts'
import type { Site } from '../children/app.ts'
import { during, type FaultTimes, type Passed } from '../fleet.ts'
import {
  allAnswered,
  countsAgree,
  DEADLINE_MS,
  deniedUntilLost,
  holdsAlways,
  isUsedAgain,
  staysDenied,
} from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { quantile } from '../report/timeline.ts'
import { redisKind } from '../stores/redis-store.ts'
import type { StoreBench, StoreKind, StoreServer } from '../stores/store-server.ts'

/** Maximum number of attempts to connect per second and connection of a process. */
const CONNECTS = 2

/** Redis crashes and restarts empty. */
export const crashes: Group<Bench> = groupOf('Redis crashes', [
  ...crashRows(redisKind),
  { id: 'R45', fault: 'no Redis for 3 s at 4,000 decisions a second', run: writesLittle },
])

/** The server crashes, and starts again with its counts or empty. */
export function crashRows<Server extends StoreServer>(kind: StoreKind<Server>): readonly Row<StoreBench>[] {
  const { name, crash } = kind
  const fault = `${name} ${crash[0]}, ${crash[1]} after 2 s`
  return [
    {
      id: 'R4',
      fault: `${fault}, \`'local'\``,
      run: (bench, findings) =>
        throughCrash(bench, findings, { ...kind, rule: 'local', admits: (limit, apps) => apps * limit }),
    },
    {
      id: 'R4',
      fault: `${fault}, \`{ local: { share: 1/2 } }\``,
      run: (bench, findings) =>
        throughCrash(bench, findings, {
          ...kind,
          rule: { local: { share: 0.5 } },
          admits: (limit, apps) => limit + apps - 1,
        }),
    },
    comesBackAfter(kind, 4),
  ]
}

interface Case extends Pick<Site, 'rule'>, Pick<StoreKind<StoreServer>, 'counts' | 'backMs'> {
  /** Most admitted requests for a key that no process used before. */
  readonly admits: (limit: number, apps: number) => number
}

async function throughCrash(
  bench: StoreBench,
  findings: Findings,
  { counts, backMs, rule, admits }: Case,
): Promise<void> {
  const { fleet, server } = bench
  const { limit } = fleet
  await fleet.open({ address: server.addressAt(server.port), ...(rule === undefined ? {} : { rule }) })
  const passed = await fleet.through(() => crash(bench, 2_000), { guarded: ['newcomer'] })
  const { timeline, from, to } = passed
  // valkey-glide does not refuse commands while it is not connected, so some wait until the breaker opens
  const boundMs = fleet.client === 'valkey-glide' ? DEADLINE_MS + 10 : 10
  findings.atMost('p99 while down', quantile(timeline.between(from, to), 0.99), boundMs, ' ms')
  holdsAlways(findings, passed)
  staysDeniedUnlessLost(findings, passed, { counts, limit })
  const newcomer = timeline.samples.filter(({ key }) => key === 'newcomer')
  const admitted = newcomer.filter(({ allowed }) => allowed)
  // the server does not know the units of a process that has not called it again
  const early = admitted.filter(({ at, counted }) => counted && at >= to && at < to + timeline.backAfterMs(to))
  const most = admits(limit, fleet.apps.length) + early.length
  findings.atMost(`of ${newcomer.length} of a new key with limit ${limit} admitted`, admitted.length, most)
  findings.always('it hardly tried', newcomer.length > most)
  isUsedAgain(findings, passed, backMs)
  if (counts === 'kept') countsAgree(findings, timeline, await fleet.counted(server.backend()), [passed])
}

export function comesBackAfter<Server extends StoreServer>(kind: StoreKind<Server>, seconds: number): Row<StoreBench> {
  const run = (bench: StoreBench, findings: Findings): Promise<void> => recovers(bench, findings, seconds * 1_000, kind)
  return { id: 'R5', fault: `${kind.name} comes back after ${seconds} s`, run }
}

async function recovers<Server extends StoreServer>(
  bench: StoreBench,
  findings: Findings,
  downMs: number,
  { connections, counts, backMs }: StoreKind<Server>,
): Promise<void> {
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
  isUsedAgain(findings, passed, backMs)
  findings.atMost('connections a process', Math.max(before, after) / fleet.apps.length, 2 * CONNECTS * connections)
  staysDeniedUnlessLost(findings, passed, { counts, limit: fleet.limit })
  allAnswered(findings, passed.timeline)
}

function staysDeniedUnlessLost(
  findings: Findings,
  passed: Passed,
  { counts, limit }: Pick<StoreKind<StoreServer>, 'counts'> & { readonly limit: number },
): void {
  if (counts === 'lost') deniedUntilLost(findings, passed, limit)
  else staysDenied(findings, passed.timeline)
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
