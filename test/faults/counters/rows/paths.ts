import { seededRandom } from '@sluice/testkit'
import { startProxy, type TcpProxy } from '../../../services/proxies/tcp-proxy.ts'
import { during, type FaultTimes, lasting } from '../../fleet.ts'
import type { Form, Row } from '../../report/row.ts'
import { type CounterBench, countThrough, postgresUrlOf, waitMsIn } from '../counter-bench.ts'

type Fault = (proxy: TcpProxy, form: Form) => Promise<FaultTimes>

/** Redis and PostgreSQL are healthy, and the network to one of them fails. */
export const paths: readonly Row<CounterBench>[] = [
  toPostgres('answers lost for 2 s, then the connections', losesAnswers),
  // dead connections are detected one after the other
  toPostgres('black hole for 2 s, old sockets never answer again', vanishes, 10_000),
  { ...toPostgres('connections cut (RST, FIN), batches under way', cuts), onlyLong: true },
  toRedis('answers lost for 2 s, then the connections', losesAnswers),
  { ...toRedis('connections cut (RST, FIN), increments under way', cuts), onlyLong: true },
]

function toPostgres(what: string, happens: Fault, flushedMs?: number): Row<CounterBench> {
  const run: Row<CounterBench>['run'] = (bench, findings, form) =>
    withProxy(bench.postgres.port, async (proxy) => {
      const waitMs = waitMsIn(form)
      // without these options a pool waits for a dead connection until TCP times out
      const pool = { connectionTimeoutMillis: waitMs, query_timeout: waitMs }
      const site = { postgresUrl: postgresUrlOf(proxy), pool }
      await countThrough(bench, findings, {
        form,
        fault: () => happens(proxy, form),
        site,
        ...(flushedMs ? { flushedMs } : {}),
      })
    })
  return { id: 'R53', fault: `the way to PostgreSQL: ${what}, counters`, run }
}

function toRedis(what: string, happens: Fault): Row<CounterBench> {
  const run: Row<CounterBench>['run'] = (bench, findings, form) =>
    withProxy(bench.redis.port, async (proxy) => {
      const site = { redisUrl: proxy.url }
      await countThrough(bench, findings, { form, fault: () => happens(proxy, form), site, refuses: 'in Redis' })
    })
  return { id: 'R53', fault: `the way to Redis: ${what}, counters`, run }
}

async function withProxy(port: number, use: (proxy: TcpProxy) => Promise<void>): Promise<void> {
  const proxy = await startProxy(port)
  try {
    await use(proxy)
  } finally {
    await proxy.stop()
  }
}

/** Requests arrive and are processed, and their answers are lost. */
function losesAnswers(proxy: TcpProxy, form: Form): Promise<FaultTimes> {
  return during(
    form === 'long' ? 2_000 : 700,
    () => proxy.loseAnswers(),
    () => {
      proxy.heal()
      proxy.cut()
    },
  )
}

function vanishes(proxy: TcpProxy, form: Form): Promise<FaultTimes> {
  return during(
    form === 'long' ? 2_000 : 700,
    () => proxy.blackHole(),
    () => proxy.heal(),
  )
}

async function cuts(proxy: TcpProxy, form: Form): Promise<FaultTimes> {
  const random = seededRandom(5)
  proxy.degrade({ delayMs: 3 })
  return during(
    0,
    async () => {
      for (let cut = 0; cut < (form === 'long' ? 60 : 8); cut++) {
        await lasting(30 + 100 * random.next())
        proxy.cut(random.pick(['reset', 'end']))
      }
    },
    () => proxy.heal(),
  )
}
