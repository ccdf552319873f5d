import type { Bench } from '../bench.ts'
import { type App, during, epochNow, lasting } from '../fleet.ts'
import { countsAgree, holdsAlways, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Row } from '../report/row.ts'

const FAULT_MS = 700

/** Redis is healthy, but loses counts or cached scripts. */
export const keyRows: readonly Row<Bench>[] = [
  { id: 'R9', fault: 'WRONGTYPE: keys of five users are lists', run: wrongType },
  { id: 'R10', fault: 'memory full under allkeys-lru', run: evicts },
  { id: 'R11', fault: 'SCRIPT FLUSH every 10 ms', run: flushes },
]

async function wrongType({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  const admin = redis.client()
  await admin.flushall()
  await fleet.open({ address: { url: redis.url } })
  const passed = await fleet.through(async () => {
    const keys = await admin.keys('*{user 1?}*counter*')
    const spoilt = keys.slice(0, 5)
    findings.exactly('keys', spoilt.length, 5)
    const from = epochNow()
    await admin
      .multi()
      .del(...spoilt)
      .exec()
    await Promise.all(spoilt.map((key) => admin.multi().del(key).lpush(key, 'a list').exec()))
    await lasting(FAULT_MS)
    await admin.del(...spoilt)
    return { from, to: epochNow() }
  })
  const { timeline, from, to } = passed
  holdsAlways(findings, passed)
  findings.atLeast('reported as WRONGTYPE', timeline.cause('WRONGTYPE'), 1)
  findings.exactly(
    'breaker opened',
    timeline.sum(({ opened }) => opened),
    0,
  )
  const uncounted = timeline.between(from, to).filter(({ counted }) => !counted)
  findings.exactly('keys that were answered by the rule', new Set(uncounted.map(({ key }) => key)).size, 5)
  staysDenied(findings, timeline)
}

/** Keys that Redis evicted while it was available are not restored by processes: the only guarantee is an answer. */
async function evicts({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  const admin = redis.client()
  await fleet.open({ address: { url: redis.url }, limit: 5 })
  const quiet = async (): Promise<number> => {
    const [app] = fleet.apps as [App]
    const taken = await Promise.all(Array.from({ length: 10 }, () => app.call('take', 'guarded', 'quiet')))
    return taken.filter(({ allowed }) => allowed).length
  }
  findings.exactly('of a limit of 5 admitted', await quiet(), 5)
  const passed = await fleet.through(() =>
    during(
      FAULT_MS,
      async () => {
        await admin.config('SET', 'maxmemory', '8mb', 'maxmemory-policy', 'allkeys-lru')
        await admin.eval("for i = 1, 60000 do redis.call('SET', 'filler' .. i, string.rep('x', 200)) end", 0)
      },
      async () => {
        await admin.flushall()
        await admin.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
      },
    ),
  )
  findings.note(`when its key had been evicted ${await quiet()} more, about which nothing is promised`)
  holdsAlways(findings, passed)
}

async function flushes({ fleet, redis }: Bench, findings: Findings, form: Form): Promise<void> {
  const admin = redis.client()
  // delays of a busy machine are not caused by a flush
  await fleet.open({ address: { url: redis.url }, deadlineMs: 1_000 })
  let times = 0
  const passed = await fleet.through(() => {
    const timer = setInterval(() => {
      times++
      void admin.script('FLUSH')
    }, 10)
    return during(
      form === 'long' ? 2_000 : 1_000,
      () => {},
      () => clearInterval(timer),
    )
  })
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  findings.atLeast('flushes', times, 50)
  findings.exactly('uncounted', passed.timeline.samples.filter(({ counted }) => !counted).length, 0)
  countsAgree(findings, passed.timeline, await fleet.counted(redis.client()), [passed])
}
