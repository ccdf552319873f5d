import { seededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type Bench, groupOf } from '../bench.ts'
import { during, type FaultTimes, lasting, type Passed } from '../fleet.ts'
import {
  allAnswered,
  countsAgree,
  countsNoneTwice,
  DEADLINE_MS,
  holdsAlways,
  isUsedAgain,
  staysDenied,
} from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group, Row } from '../report/row.ts'
import { quantile } from '../report/timeline.ts'

/** Redis is healthy, and the network to it fails. */
export const paths: Group<Bench> = groupOf('the way to Redis', [
  { ...later(5, 'closed'), isVariant: true },
  later(20, 'closed'),
  later(100, 'open'),
  { ...later(500, 'open'), isVariant: true },
  { id: 'R3', fault: '1 % of packets lost', run: loses },
  vanished(2),
  { ...vanished(10), onlyLong: true },
  { ...vanished(60), onlyLong: true },
  { id: 'R7', fault: 'connections cut (RST, FIN) with decisions under way', run: cuts },
])

type OnPath = (proxy: TcpProxy) => Promise<void>

/** Creates a network path for one row. */
async function withPath({ redis }: Bench, use: OnPath): Promise<void> {
  const random = seededRandom(3)
  const proxy = await startProxy(redis.port, { random: () => random.next() })
  try {
    await use(proxy)
  } finally {
    await proxy.stop()
  }
}

function later(ms: number, breaker: 'closed' | 'open'): Row<Bench> {
  const run = (bench: Bench, findings: Findings, form: Form): Promise<void> =>
    withPath(bench, async (proxy) => {
      const { fleet } = bench
      // other tests may keep the machine busy for as long as a deadline
      const deadlineMs = breaker === 'closed' && form === 'short' ? 5 * DEADLINE_MS : DEADLINE_MS
      await fleet.open({ address: { url: proxy.url }, deadlineMs })
      const seconds = form === 'long' ? 10 : 1.5
      let calls = Number.NaN
      const passed = await fleet.through(async () => {
        // commands sent before the breaker opens arrive later, too
        const times = await during(
          500 + ms,
          () => proxy.degrade({ delayMs: ms / 2 }),
          () => {},
        )
        calls = await scriptCalls(bench)
        await lasting(seconds * 1_000)
        calls = (await scriptCalls(bench)) - calls
        proxy.heal()
        return { ...times, to: performance.timeOrigin + performance.now() }
      })
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed)
      countsNoneTwice(findings, passed.timeline, await fleet.counted(bench.redis.client()))
      if (breaker === 'closed') staysClosed(findings, passed)
      else findings.atMost('probes of a process a second', calls / fleet.apps.length / seconds, 1 + 1 / seconds)
    })
  return { id: 'R3', fault: `+${ms} ms a round trip`, run }
}

function staysClosed(findings: Findings, { timeline, from, to }: Passed): void {
  findings.exactly(
    'breaker opened',
    timeline.sum(({ opened }) => opened),
    0,
  )
  const uncounted = timeline.between(from, to).filter(({ counted }) => !counted)
  findings.atMost('uncounted', (100 * uncounted.length) / timeline.between(from, to).length, 1, ' %')
}

function loses(bench: Bench, findings: Findings, form: Form): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet } = bench
    await fleet.open({ address: { url: proxy.url } })
    const degrade = (): void => proxy.degrade({ lossShare: 0.01 })
    const passed = await fleet.through(() => during(form === 'long' ? 20_000 : 2_000, degrade, () => proxy.heal()))
    holdsAlways(findings, passed)
    staysDenied(findings, passed.timeline)
    // the last lost packets arrive 200 ms later, and the breaker may have opened just then
    isUsedAgain(findings, passed, 1_300)
    countsNoneTwice(findings, passed.timeline, await fleet.counted(bench.redis.client()))
  })
}

function vanished(seconds: number): Row<Bench> {
  const run = (bench: Bench, findings: Findings): Promise<void> =>
    withPath(bench, async (proxy) => {
      const { fleet } = bench
      await fleet.open({ address: { url: proxy.url } })
      const before = proxy.connections
      const passed = await fleet.through(() =>
        during(
          seconds * 1_000,
          () => proxy.blackHole(),
          () => proxy.heal(),
        ),
      )
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed, 2_000)
      const connects = (proxy.connections - before) / fleet.apps.length
      findings.atMost('connections a process', connects, 2 * (seconds + 2))
      countsAgree(findings, passed.timeline, await fleet.counted(bench.redis.client()), [passed])
    })
  return { id: 'R6', fault: `black hole for ${seconds} s, old sockets never answer again`, run }
}

function cuts(bench: Bench, findings: Findings, form: Form): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet } = bench
    const random = seededRandom(7)
    await fleet.open({ address: { url: proxy.url } })
    proxy.degrade({ delayMs: 5 })
    const faults: FaultTimes[] = []
    const passed = await fleet.through(
      async () => {
        for (let times = 0; times < (form === 'long' ? 100 : 5); times++) {
          await fleet.ready()
          await lasting(50 * random.next())
          faults.push(
            await during(
              0,
              () => proxy.cut(random.pick(['reset', 'end'])),
              () => {},
            ),
          )
        }
        return { from: faults[0]?.from as number, to: faults.at(-1)?.to as number }
      },
      { perSecond: 2_000 },
    )
    const { timeline, from, to } = passed
    const until = to + DEADLINE_MS
    findings.note(`${faults.length} cuts`)
    findings.atMost('slowest', quantile(timeline.between(from - DEADLINE_MS, until), 1), DEADLINE_MS + 10, ' ms')
    allAnswered(findings, timeline)
    staysDenied(findings, timeline)
    countsAgree(findings, timeline, await fleet.counted(bench.redis.client()), faults)
    await eventually(async () => proxy.open <= fleet.apps.length, { what: 'one connection a process' })
  })
}

async function scriptCalls({ redis }: Bench): Promise<number> {
  const stats = await redis.client().info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}
