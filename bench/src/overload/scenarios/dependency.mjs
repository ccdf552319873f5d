import { startPostgres } from '../../postgres/postgres-server.mjs'
import { successShare, warmupOf } from '../judge.mjs'
import { totalsOf } from '../timeline.mjs'
import { sourceOf } from './sources.mjs'

const cell = new URL('../server/dependency-cell.mjs', import.meta.url)
const perRoute = 'an adaptive cap per route'
const one = 'one adaptive cap with priorities'
const [slow, fast] = [0, 1]
const connections = 10

/** A database that needs 10 ms, then 2 s, then 10 ms. */
export function dependency(ms) {
  const [before, during, after] = [ms(20), ms(40), ms(20)]
  const slowWindow = { fromMs: before, toMs: before + during }
  const settings = {
    ...{ workers: 12, connections, fixedCap: 100 },
    queryMs: [
      [0, 10],
      [before, Math.min(2_000, during)],
      [before + during, 10],
    ],
  }
  return {
    name: 'slow dependency',
    title: 'Slow dependency: an Express server whose database needs 10 ms, then 2 s, then 10 ms',
    mostLanes: 3,
    contenders: ['no limiter', 'one fixed cap', one, perRoute],
    judged: [one, perRoute],
    cell,
    durationMs: before + during + after,
    sources: [sourceOf('/db', 100, { path: '/db' }), sourceOf('/fast', 200, { path: '/fast' })],
    settings,
    open: async () => {
      const postgres = await startPostgres()
      return {
        settings: { ...settings, url: postgres.url },
        notes: `\`/db\` is \`select pg_sleep($1)\` with a pool of ${connections} connections (PostgreSQL ${postgres.version}), \`/fast\` answers from memory. Both need one of 12 workers of the process. The fixed cap is 100.`,
        close: postgres.close,
      }
    },
    verdict: verdictOf(slowWindow, { fromMs: before + during }),
  }
}

function verdictOf(slowWindow, afterIt) {
  const answered = (source, window) => (run) => 100 * successShare(run.record, source, window)
  const whileSlow = answered(fast, slowWindow)
  const around = (run) => {
    const before = { fromMs: warmupOf(run.scenario.durationMs), toMs: slowWindow.fromMs }
    return (answered(fast, before)(run) + answered(fast, afterIt)(run)) / 2
  }
  const during = (source) => (run) => totalsOf(run.record, { ...slowWindow, source })
  return {
    columns: [
      ['/fast while it is slow: answered %', whileSlow],
      ['p99 ms', (run) => during(fast)(run).p99],
      ['/fast before and after: answered %', around],
      [
        '/db while it is slow: answered per second',
        (run) => (during(slow)(run).answered * 1_000) / (slowWindow.toMs - slowWindow.fromMs),
      ],
      ['/db after it: answered %', answered(slow, afterIt)],
    ],
    // both routes need the same workers: one cap learns which of them is late while others wait already
    targets: [
      [
        '/fast, answered % while the database is slow',
        whileSlow,
        (name) => (name === perRoute ? { atLeast: 99 } : { atLeast: 90 }),
      ],
    ],
  }
}
