import { startProxy } from '../../../services/proxies/tcp-proxy.ts'
import { epochNow, lasting } from '../../fleet.ts'
import type { Findings } from '../../report/findings.ts'
import type { Form, Row } from '../../report/row.ts'
import { type CounterBench, countThrough, flushMsIn, postgresUrlOf } from '../counter-bench.ts'
import { PER_SECOND, type Tier } from '../counting-fleet.ts'

const ROUND_TRIP_MS = 300
/** Round trips of the batch in flight, of the next batch, and of a read that precedes a call. */
const ROUND_TRIPS = 3

/** PostgreSQL is healthy, with a high latency. */
export const slow: readonly Row<CounterBench>[] = [
  { id: 'R50', fault: `+${ROUND_TRIP_MS} ms a round trip to PostgreSQL, counters`, run: countsFarAway },
]

async function countsFarAway(bench: CounterBench, findings: Findings, form: Form): Promise<void> {
  const { fleet, pool, postgres } = bench
  const proxy = await startProxy(postgres.port)
  const most = new Map<Tier, number>([
    ['in a process', 0],
    ['in Redis', 0],
  ])
  const fault = async () => {
    const from = epochNow()
    proxy.degrade({ delayMs: ROUND_TRIP_MS / 2 })
    const until = from + (form === 'long' ? 10_000 : 1_200)
    while (epochNow() < until) {
      await lasting(50)
      for (const tier of most.keys()) most.set(tier, Math.max(most.get(tier) ?? 0, await fleet.behind(tier, pool)))
    }
    const to = epochNow()
    proxy.heal()
    return { from, to }
  }
  try {
    const site = { postgresUrl: postgresUrlOf(proxy), waitMs: 3_000 }
    await countThrough(bench, findings, { form, fault, site })
  } finally {
    await proxy.stop()
  }
  const seconds = (flushMsIn(form) + ROUND_TRIPS * ROUND_TRIP_MS) / 1_000
  for (const [tier, units] of most) {
    const bound = Math.ceil(PER_SECOND * fleet.of(tier).length * seconds)
    findings.atMost(`units ${tier} that the ledger does not have, at most`, units, bound)
  }
}
