import { type Bench, groupOf } from '../bench.ts'
import { type App, during, epochNow, Fleet, lasting } from '../fleet.ts'
import { allAnswered, countsNoneTwice, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import { admitsExactly } from '../report/exactness.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group, Row } from '../report/row.ts'
import { Timeline } from '../report/timeline.ts'

const HOUR_MS = 3_600_000
const LIMIT = 50
const DEAD = 'while Redis is dead'

/** Faults of the processes of an application. */
export const processes: Group<Bench> = groupOf(
  'applications',
  [
    {
      id: 'R22',
      fault: '4 processes × 5,000 at once, limit 1,000',
      run: ({ fleet, redis }, findings, form) => admitsExactly(fleet, { url: redis.url }, findings, form),
    },
    { id: 'R16', fault: 'clocks of processes differ by 5 s and by hours', run: differingClocks },
    { id: 'R17', fault: 'clocks step by an hour while Redis is away', run: steppingClocks },
    { id: 'R18', fault: 'an application is stopped for 2 s', run: (bench, findings) => sleeps(2_000, bench, findings) },
    {
      id: 'R18',
      fault: 'an application is stopped for 30 s',
      onlyLong: true,
      run: (bench, findings) => sleeps(30_000, bench, findings),
    },
    leaves(
      'while Redis is well',
      async () => {},
      async () => {},
    ),
    leaves(
      'while Redis is stopped',
      async ({ redis }) => redis.pause(),
      async ({ redis }) => redis.resume(),
    ),
    leaves(
      DEAD,
      ({ redis }) => redis.kill(),
      ({ redis }) => redis.start(),
    ),
  ],
  4,
)

async function differingClocks({ fleet, redis }: Bench, findings: Findings, form: Form): Promise<void> {
  const skews = [0, 5_000, -HOUR_MS, HOUR_MS].map((skewMs) => ({ skewMs }))
  await fleet.open({ address: { url: redis.url }, limit: LIMIT }, skews)
  const passed = await fleet.through(
    () =>
      during(
        form === 'long' ? 3_000 : 1_500,
        () => {},
        () => {},
      ),
    { guarded: ['newcomer'] },
  )
  const newcomer = passed.timeline.samples.filter(({ key }) => key === 'newcomer')
  findings.exactly(`of ${newcomer.length} admitted`, newcomer.filter(({ allowed }) => allowed).length, LIMIT)
  findings.always('it hardly tried', newcomer.length > 2 * LIMIT)
  const waits = await Promise.all(fleet.apps.map((app) => app.call('take', 'guarded', 'newcomer')))
  const seconds = waits.map(({ retryAfterMs }) => retryAfterMs)
  findings.atMost('Retry-After differs', Math.max(...seconds) - Math.min(...seconds), 1_000, ' ms')
  allAnswered(findings, passed.timeline)
}

/** Processes count locally, and their windows end at the original time. */
async function steppingClocks({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  const windowMs = 4_000
  await fleet.open({ address: { url: redis.url }, windowMs, limit: 5 })
  await redis.kill()
  const steps = fleet.apps.map((app, index) => app.call('setSkew', index % 2 === 0 ? HOUR_MS : -HOUR_MS))
  await Promise.all(steps)
  const each = await Promise.all(fleet.apps.map((app) => whenFree(app)))
  const lateMs = each.map(({ requestedAt, toldMs, freeAt }) => freeAt - requestedAt - toldMs)
  findings.atMost('available later than reported by', Math.max(...lateMs), 1_000, ' ms')
  // a message to the process takes some time, too
  findings.atLeast('the earliest by', Math.min(...lateMs), -20, ' ms')
  await redis.start()
  await fleet.ready()
}

async function whenFree(app: App): Promise<{ requestedAt: number; toldMs: number; freeAt: number }> {
  const requestedAt = epochNow()
  const { retryAfterMs: toldMs, allowed } = await app.call('take', 'guarded', 'attacker')
  if (allowed) throw new Error('the window was over too early')
  while (!(await app.call('take', 'guarded', 'attacker')).allowed) await lasting(20)
  return { requestedAt, toldMs, freeAt: epochNow() }
}

async function sleeps(ms: number, { fleet, redis }: Bench, findings: Findings): Promise<void> {
  const [sleeper] = fleet.apps as [App]
  await fleet.open({ address: { url: redis.url } })
  const passed = await fleet.through(() =>
    during(
      ms,
      () => sleeper.pause(),
      () => sleeper.resume(),
    ),
  )
  const { timeline, to } = passed
  holdsAlways(findings, passed)
  staysDenied(findings, timeline)
  const own = new Timeline(timeline.reports.slice(0, 1))
  findings.atMost(
    'its breaker opened',
    own.sum(({ opened }) => opened),
    1,
  )
  isUsedAgain(findings, { ...passed, timeline: own }, 2_000)
  const burst = own.between(to - 5, to + 100).length
  findings.atMost('decisions in its first 100 ms', burst, 50)
  countsNoneTwice(findings, timeline, await fleet.counted(redis.client()))
}

/** Requests in flight are answered by the failure rule, and are not counted when Redis reads them later. */
function leaves(
  when: string,
  begin: (bench: Bench) => Promise<void>,
  end: (bench: Bench) => Promise<void>,
): Row<Bench> {
  const run = async (bench: Bench, findings: Findings): Promise<void> => {
    const { redis } = bench
    const fleet = Fleet.start()
    try {
      await fleet.open({ address: { url: redis.url } })
      await fleet.begin()
      await lasting(300)
      await begin({ ...bench, fleet })
      await lasting(300)
      const leftAt = epochNow()
      const timeline = new Timeline(await Promise.all(fleet.apps.map((app) => app.call('leave'))))
      await Promise.all(fleet.apps.map((app) => app.end()))
      findings.atMost('ended after', epochNow() - leftAt, 1_000, ' ms')
      findings.exactly('exit codes', fleet.apps.map(({ exitCode }) => exitCode).join(), '0,0')
      allAnswered(findings, timeline)
      await end({ ...bench, fleet })
      if (when !== DEAD) countsNoneTwice(findings, timeline, await fleet.counted(redis.client()))
    } finally {
      await fleet.stop()
    }
  }
  return { id: 'R44', fault: `close() with traffic, ${when}`, run }
}
