import { type Bench, groupOf } from '../bench.ts'
import type { Site } from '../children/app.ts'
import { during, type FaultTimes } from '../fleet.ts'
import { allAnswered, DEADLINE_MS, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { quantile } from '../report/timeline.ts'

const LIMIT = 50
/** Maximum number of connections per second and process. */
const CONNECTS = 2

/** Redis crashes and restarts empty. */
export const crashes: Group<Bench> = groupOf('Redis crashes', [
  {
    id: 'R4',
    fault: "kill -9, restarted empty after 2 s, `'local'`",
    run: (bench, findings) => throughCrash(bench, findings, { rule: 'local', admits: bench.fleet.apps.length * LIMIT }),
  },
  {
    id: 'R4',
    fault: 'kill -9, restarted empty after 2 s, `{ local: { share: 1/2 } }`',
    run: (bench, findings) =>
      throughCrash(bench, findings, { rule: { local: { share: 0.5 } }, admits: LIMIT + bench.fleet.apps.length - 1 }),
  },
  comesBackAfter(4),
  { id: 'R45', fault: 'no Redis for 3 s at 4,000 decisions a second', run: writesLittle },
])

interface Case extends Pick<Site, 'rule'> {
  /** Requests for a key that no process used before. */
  readonly admits: number
}

async function throughCrash({ fleet, redis }: Bench, findings: Findings, { rule, admits }: Case): Promise<void> {
  await fleet.open({ address: { url: redis.url }, limit: LIMIT, ...(rule === undefined ? {} : { rule }) })
  const passed = await fleet.through(() => crash({ fleet, redis }, 2_000), { guarded: ['newcomer'] })
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
}

export function comesBackAfter(seconds: number): Row<Bench> {
  const run = (bench: Bench, findings: Findings): Promise<void> => recovers(bench, findings, seconds * 1_000)
  return { id: 'R5', fault: `Redis comes back after ${seconds} s`, run }
}

async function recovers({ fleet, redis }: Bench, findings: Findings, downMs: number): Promise<void> {
  await fleet.open({ address: { url: redis.url } })
  let before = 0
  let after = 0
  const passed = await fleet.through(async () => {
    const times = await crash({ fleet, redis }, downMs)
    before = await connections({ fleet, redis })
    await fleet.ready()
    after = await connections({ fleet, redis })
    return times
  })
  isUsedAgain(findings, passed)
  findings.atMost('connections a process', Math.max(before, after) / fleet.apps.length, 2 * CONNECTS)
  staysDenied(findings, passed.timeline)
  allAnswered(findings, passed.timeline)
}

async function writesLittle({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  await fleet.open({ address: { url: redis.url } })
  const passed = await fleet.through(() => crash({ fleet, redis }, 3_000), { perSecond: 4_000 })
  holdsAlways(findings, passed)
  const lines = passed.timeline.reports.map(({ warnings }) => warnings.length)
  findings.atMost('lines of a process in all', Math.max(...lines), 6)
  findings.atLeast('the fewest', Math.min(...lines), 2)
}

function crash({ redis }: Bench, downMs: number): Promise<FaultTimes> {
  return during(
    downMs,
    () => redis.kill(),
    () => redis.start(),
  )
}

/** Number of connections that the server accepted since it started. */
async function connections({ redis }: Bench): Promise<number> {
  const stats = await redis.client().info('stats')
  return Number(/total_connections_received:(\d+)/.exec(stats)?.[1])
}
