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
import { redisKind } from '../stores/redis-store.ts'
import type { StoreBench, StoreKind, StoreServer } from '../stores/store-server.ts'

/** Redis is healthy, and the network to it fails. */
export const paths: Group<Bench> = groupOf('the way to Redis', pathRows(redisKind))

/** The server is healthy, and the network to it fails. */
export function pathRows<Server extends StoreServer>(kind: StoreKind<Server>): readonly Row<StoreBench>[] {
  const { name, nearMs } = kind
  return [
    ...nearMs.map((ms, index) => ({ ...later(kind, ms, 'closed'), isVariant: index > 0 })),
    later(kind, 100, 'open'),
    { ...later(kind, 500, 'open'), isVariant: true },
    { id: 'R3', fault: `1 % of packets to ${name} lost`, run: loses },
    vanished(kind, 2),
    { ...vanished(kind, 10), onlyLong: true },
    { ...vanished(kind, 60), onlyLong: true },
    {
      id: 'R7',
      fault: `connections to ${name} cut (RST, FIN) with decisions under way`,
      run: (bench, findings, form) => cuts(bench, findings, form, kind),
    },
  ]
}

type OnPath = (proxy: TcpProxy) => Promise<void>

/** Creates a network path for one row. */
async function withPath({ server }: StoreBench, use: OnPath): Promise<void> {
  const random = seededRandom(3)
  const proxy = await startProxy(server.port, { random: () => random.next() })
  try {
    await use(proxy)
  } finally {
    await proxy.stop()
  }
}

function later<Server extends StoreServer>(
  { name, nearDeadlineMs, backMs }: StoreKind<Server>,
  ms: number,
  breaker: 'closed' | 'open',
): Row<StoreBench> {
  const run = (bench: StoreBench, findings: Findings, form: Form): Promise<void> =>
    withPath(bench, async (proxy) => {
      const { fleet, server } = bench
      // other tests may keep the machine busy for as long as a deadline
      const longestMs = form === 'short' ? 5 * DEADLINE_MS : nearDeadlineMs
      const deadlineMs = breaker === 'closed' ? longestMs : DEADLINE_MS
      await fleet.open({ address: server.addressAt(proxy.port), deadlineMs })
      const seconds = form === 'long' ? 10 : 1.5
      let calls = Number.NaN
      const callsSoFar = async (): Promise<number> => (await server.calls?.()) ?? Number.NaN
      const passed = await fleet.through(async () => {
        // commands sent before the breaker opens arrive later, too
        const times = await during(
          500 + ms,
          () => proxy.degrade({ delayMs: ms / 2 }),
          () => {},
        )
        calls = await callsSoFar()
        await lasting(seconds * 1_000)
        calls = (await callsSoFar()) - calls
        proxy.heal()
        return { ...times, to: performance.timeOrigin + performance.now() }
      })
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed, backMs)
      countsNoneTwice(findings, passed.timeline, await fleet.counted(server.backend()))
      if (breaker === 'closed') staysClosed(findings, passed)
      else if (server.calls)
        findings.atMost('probes of a process a second', calls / fleet.apps.length / seconds, 1 + 1 / seconds)
    })
  return { id: 'R3', fault: `+${ms} ms a round trip to ${name}`, run }
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

function loses(bench: StoreBench, findings: Findings, form: Form): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet, server } = bench
    await fleet.open({ address: server.addressAt(proxy.port) })
    const degrade = (): void => proxy.degrade({ lossShare: 0.01 })
    const passed = await fleet.through(() => during(form === 'long' ? 20_000 : 2_000, degrade, () => proxy.heal()))
    holdsAlways(findings, passed)
    staysDenied(findings, passed.timeline)
    // the last lost packets arrive 200 ms later, and the breaker may have opened just then
    isUsedAgain(findings, passed, 1_300)
    countsNoneTwice(findings, passed.timeline, await fleet.counted(server.backend()))
  })
}

function vanished<Server extends StoreServer>(
  { name, connections, silentBackMs }: StoreKind<Server>,
  seconds: number,
): Row<StoreBench> {
  const run = (bench: StoreBench, findings: Findings): Promise<void> =>
    withPath(bench, async (proxy) => {
      const { fleet, server } = bench
      await fleet.open({ address: server.addressAt(proxy.port) })
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
      isUsedAgain(findings, passed, silentBackMs)
      const connects = (proxy.connections - before) / fleet.apps.length
      findings.atMost('connections a process', connects, 2 * connections * (seconds + 2))
      countsAgree(findings, passed.timeline, await fleet.counted(server.backend()), [passed])
    })
  return { id: 'R6', fault: `black hole on the way to ${name} for ${seconds} s, old sockets never answer again`, run }
}

function cuts<Server extends StoreServer>(
  bench: StoreBench,
  findings: Findings,
  form: Form,
  { connections, cutPerSecond }: StoreKind<Server>,
): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet, server } = bench
    const random = seededRandom(7)
    await fleet.open({ address: server.addressAt(proxy.port) })
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
      cutPerSecond === undefined ? {} : { perSecond: cutPerSecond },
    )
    const { timeline, from, to } = passed
    const until = to + DEADLINE_MS
    findings.note(`${faults.length} cuts`)
    findings.atMost('slowest', quantile(timeline.between(from - DEADLINE_MS, until), 1), DEADLINE_MS + 10, ' ms')
    allAnswered(findings, timeline)
    staysDenied(findings, timeline)
    countsAgree(findings, timeline, await fleet.counted(server.backend()), faults)
    await eventually(async () => proxy.open <= connections * fleet.apps.length, {
      what: `at most ${connections} connections a process`,
    })
  })
}
