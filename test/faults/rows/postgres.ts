import { postgresBackend } from '@sluice/postgres'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { during, type FaultTimes, Fleet, lasting } from '../fleet.ts'
import { countsAgree, countsNoneTwice, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group, Row } from '../report/row.ts'

/** Applications that share one PostgreSQL. */
interface PostgresBench {
  readonly fleet: Fleet
  readonly postgres: PostgresServer
}

type Fault = (bench: PostgresBench) => Promise<FaultTimes>

/** Time until a connection to a silent network was replaced, which began when the network was silent. */
const SILENT_BACK_MS = 2_100

/** PostgreSQL, or the network to it, fails. */
export const postgres: Group<PostgresBench> = {
  name: 'PostgreSQL',
  start: async () => {
    const server = await startPostgres({ fsync: false })
    await postgresBackend(server.pool()).migrate()
    return { fleet: Fleet.start(2), postgres: server }
  },
  stop: async (bench) => {
    await bench.fleet.stop()
    await bench.postgres.stop()
  },
  rows: [
    row('R1', 'PostgreSQL stopped (SIGSTOP) for 0.3 s', stopped(300)),
    { ...row('R1', 'PostgreSQL stopped for 3 s', stopped(3_000)), onlyLong: true },
    row('R4', 'PostgreSQL killed, started again with its data after 1 s', crashed),
    { id: 'R6', fault: 'PostgreSQL unreachable (packets dropped) for 2 s', run: vanishes },
    { id: 'R7', fault: 'connections to PostgreSQL cut (RST, FIN) with decisions under way', run: cuts },
  ],
}

function row(id: string, fault: string, happens: Fault): Row<PostgresBench> {
  return {
    id,
    fault,
    run: async (bench, findings) => {
      const { fleet, postgres: server } = bench
      await fleet.open({ address: { postgresPort: server.port } })
      const passed = await fleet.through(() => happens(bench))
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed)
      countsAgree(findings, passed.timeline, await fleet.counted(server.pool()), [passed])
    },
  }
}

function stopped(ms: number): Fault {
  return ({ postgres: server }) =>
    during(
      ms,
      () => server.pause(),
      () => server.resume(),
    )
}

function crashed({ postgres: server }: PostgresBench): Promise<FaultTimes> {
  return during(
    1_000,
    () => server.kill(),
    () => server.start(),
  )
}

async function withPath(bench: PostgresBench, use: (proxy: TcpProxy) => Promise<void>): Promise<void> {
  const proxy = await startProxy(bench.postgres.port)
  try {
    await use(proxy)
  } finally {
    await proxy.stop()
  }
}

function vanishes(bench: PostgresBench, findings: Findings): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet } = bench
    await fleet.open({ address: { postgresPort: proxy.port } })
    const passed = await fleet.through(() =>
      during(
        2_000,
        () => proxy.blackHole(),
        () => proxy.heal(),
      ),
    )
    holdsAlways(findings, passed)
    staysDenied(findings, passed.timeline)
    isUsedAgain(findings, passed, SILENT_BACK_MS)
    countsAgree(findings, passed.timeline, await fleet.counted(bench.postgres.pool()), [passed])
  })
}

function cuts(bench: PostgresBench, findings: Findings, form: Form): Promise<void> {
  return withPath(bench, async (proxy) => {
    const { fleet } = bench
    await fleet.open({ address: { postgresPort: proxy.port } })
    const passed = await fleet.through(async () => {
      const from = performance.timeOrigin + performance.now()
      for (let times = 0; times < (form === 'long' ? 10 : 4); times++) {
        proxy.cut(times % 2 === 0 ? 'reset' : 'end')
        await lasting(100)
      }
      return { from, to: performance.timeOrigin + performance.now() }
    })
    holdsAlways(findings, passed)
    staysDenied(findings, passed.timeline)
    isUsedAgain(findings, passed)
    countsNoneTwice(findings, passed.timeline, await fleet.counted(bench.postgres.pool()))
  })
}
