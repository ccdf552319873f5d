import { seededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type Bench, groupOf } from '../bench.ts'
import type { Site } from '../children/app.ts'
import { during, type FaultTimes, lasting, type Passed } from '../fleet.ts'
import { allAnswered, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group, Row } from '../report/row.ts'
import { quantile } from '../report/timeline.ts'
import { stopped } from '../stopped.ts'

const APPS = 2
const SYNCED = { tickMs: 200, gapMs: 20, silentMs: 500, nodes: APPS, floor: 0 }
/** Maximum duration of a decision that waits for nothing. */
const AT_ONCE_MS = 2
/** A tick plus a tenth of it, an answer, and the reconnect delay of a client. */
const BACK_MS = 1_000
/** Request interval of a client with 50 requests per second. */
const NEARLY_FULL = { limit: 280, windowMs: 5_000 }
const STEADY = 'steady'

type Fault = (bench: SyncedBench) => Promise<FaultTimes>

/** The network to Redis goes through a proxy. */
interface SyncedBench extends Bench {
  readonly proxy: TcpProxy
}

/** Each process decides locally and reports to Redis afterwards. */
export const synced: Group<Bench> = groupOf(
  'a global limiter',
  [
    row('Redis stopped for 3 s', stopped(3_000)),
    { ...row('Redis stopped for 30 s', stopped(30_000)), onlyLong: true },
    row('answers do not come back for 2 s', ({ proxy }) =>
      during(
        2_000,
        () => proxy.loseAnswers(),
        () => reconnected(proxy),
      ),
    ),
    row('nothing arrives for 2 s', ({ proxy }) =>
      during(
        2_000,
        () => proxy.blackHole(),
        () => reconnected(proxy),
      ),
    ),
    row('memory full for 2 s (OOM)', ({ redis }) =>
      during(
        2_000,
        () => redis.client().config('SET', 'maxmemory', '1'),
        () => redis.client().config('SET', 'maxmemory', '0'),
      ),
    ),
    {
      ...row('the master was a replica for 2 s (READONLY)', ({ redis }) =>
        during(
          2_000,
          () => redis.client().replicaof('127.0.0.1', 1),
          () => redis.client().replicaof('NO', 'ONE'),
        ),
      ),
      isVariant: true,
    },
    { id: 'R47', fault: 'kill -9, restarted empty after 2 s, a global limiter', run: restartsEmpty },
    { id: 'R48', fault: 'connections cut, a client at 90 % of a global limit', run: deniesNoHonestClient },
  ],
  APPS,
)

function row(fault: string, happens: Fault): Row<Bench> {
  return { id: 'R46', fault: `${fault}, a global limiter`, run: (bench, findings) => through(bench, findings, happens) }
}

/** Connections that lost data never answer again, so clients open new ones. */
function reconnected(proxy: TcpProxy): void {
  proxy.heal()
  proxy.cut()
}

async function withSynced(
  bench: Bench,
  site: Partial<Site>,
  use: (bench: SyncedBench) => Promise<void>,
): Promise<void> {
  const { fleet } = bench
  const proxy = await startProxy(bench.server.port)
  try {
    const opened = { address: { url: proxy.url }, synced: SYNCED, ...site }
    // with a short window no client is denied for long
    if (site.windowMs === undefined) await fleet.open(opened)
    else await fleet.openUnready(opened).then(() => fleet.ready())
    await use({ ...bench, proxy })
  } finally {
    await proxy.stop()
  }
}

function through(bench: Bench, findings: Findings, happens: Fault): Promise<void> {
  return withSynced(bench, {}, async (opened) => {
    const passed = await opened.fleet.through(() => happens(opened))
    answersAtOnce(findings, passed)
    staysDenied(findings, passed.timeline)
    isUsedAgain(findings, passed, BACK_MS)
    await countsEachOnce(findings, opened, passed)
  })
}

/** The counts of Redis are lost, and only the counts in the processes remain. */
function restartsEmpty(bench: Bench, findings: Findings): Promise<void> {
  return withSynced(bench, {}, async ({ fleet, redis }) => {
    const passed = await fleet.through(() =>
      during(
        2_000,
        () => redis.kill(),
        () => redis.start(),
      ),
    )
    answersAtOnce(findings, passed)
    staysDenied(findings, passed.timeline)
    isUsedAgain(findings, passed, BACK_MS)
  })
}

function deniesNoHonestClient(bench: Bench, findings: Findings, form: Form): Promise<void> {
  return withSynced(bench, NEARLY_FULL, async (opened) => {
    const { fleet, proxy } = opened
    const random = seededRandom(11)
    proxy.degrade({ delayMs: 5 })
    const times = form === 'long' ? 60 : 12
    const passed = await fleet.through(
      () =>
        during(
          0,
          async () => {
            for (let cut = 0; cut < times; cut++) {
              await lasting(100 + 200 * random.next())
              proxy.cut(random.pick(['reset', 'end']))
            }
          },
          () => {},
        ),
      { guarded: [STEADY] },
    )
    answersAtOnce(findings, passed)
    const asked = passed.timeline.samples.filter(({ key }) => key === STEADY)
    findings.note(`${times} cuts`)
    findings.exactly(`of ${asked.length} of that client denied`, asked.filter(({ allowed }) => !allowed).length, 0)
    await countsEachOnce(findings, opened, passed)
  })
}

function answersAtOnce(findings: Findings, { timeline }: Passed): void {
  findings.atMost('p99', quantile(timeline.samples, 0.99), AT_ONCE_MS, ' ms')
  allAnswered(findings, timeline)
}

/** Whatever was lost on the way, Redis finally has what was admitted. */
async function countsEachOnce(findings: Findings, { fleet, redis }: Bench, { timeline }: Passed): Promise<void> {
  const admitted = timeline.samples.filter(({ policy, allowed }) => policy === 'counter' && allowed).length
  const client = redis.client()
  let counted = 0
  const agrees = async (): Promise<boolean> => {
    counted = await fleet.counted(client)
    return counted === admitted
  }
  await eventually(agrees, { timeoutMs: 5_000, what: 'a count of all' }).catch(() => {})
  findings.exactly(`of ${admitted} admitted units counted too few or too often`, Math.abs(admitted - counted), 0)
}
