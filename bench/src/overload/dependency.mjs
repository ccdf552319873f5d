import { startPostgres } from '../postgres/postgres-server.mjs'
import { curveOf } from './curves.mjs'
import { successShare, warmupOf } from './judge.mjs'
import { judgedRow, shownName } from './judged-row.mjs'
import { runServer } from './server-run.mjs'
import { totalsOf } from './timeline.mjs'

const cell = new URL('./server/dependency-cell.mjs', import.meta.url)
const contenders = ['no limiter', 'one fixed cap', 'one adaptive cap with priorities', 'an adaptive cap per route']
/** Contenders that must keep the other routes fast. */
const judged = ['one adaptive cap with priorities', 'an adaptive cap per route']
const [slow, fast] = [0, 1]

/** A database that needs 10 ms, then 2 s, then 10 ms. `scale` shortens the times. */
export async function runDependency({ scale, seed, progress, giveUpMs }) {
  const ms = (seconds) => Math.max(300, seconds * 1_000 * scale)
  const [before, during, after] = [ms(20), ms(40), ms(20)]
  const scenario = {
    name: 'slow dependency',
    title: 'Slow dependency: an Express server whose database needs 10 ms, then 2 s, then 10 ms',
    durationMs: before + during + after,
    sources: [
      { name: '/db', path: '/db', headers: {}, rate: [[0, 100]] },
      { name: '/fast', path: '/fast', headers: {}, rate: [[0, 200]] },
    ],
    giveUpMs,
  }
  const queryMs = [
    [0, 10],
    [before, Math.min(2_000, during)],
    [before + during, 10],
  ]
  const windows = { slow: { fromMs: before, toMs: before + during }, after: { fromMs: before + during } }
  const postgres = await startPostgres()
  const runs = {}
  try {
    for (const contender of contenders) {
      progress(`overload: slow dependency, ${contender}`)
      const options = { contender, url: postgres.url, workers: 12, connections: 10, queryMs, fixedCap: 100 }
      runs[contender] = await runServer(cell, options, scenario, seed)
    }
  } finally {
    await postgres.close()
  }
  return { tables: [tableOf(scenario, runs, windows, postgres)], targets: targetsOf(runs, windows) }
}

function answeredPercent({ record }, source, window) {
  return 100 * successShare(record, source, window)
}

function tableOf(scenario, runs, windows, { version }) {
  return {
    title: scenario.title,
    columns: [
      'protected by',
      '/fast while it is slow: answered %',
      'p99 ms',
      '/fast before and after: answered %',
      '/db while it is slow: answered per second',
      '/db after it: answered %',
      'CPU %',
      'sent late %',
    ],
    rows: contenders.map((name) => {
      const run = runs[name]
      const { fromMs, toMs } = windows.slow
      const during = totalsOf(run.record, { ...windows.slow, source: slow })
      return [
        shownName(name, run),
        answeredPercent(run, fast, windows.slow),
        totalsOf(run.record, { ...windows.slow, source: fast }).p99,
        (answeredPercent(run, fast, { fromMs: warmupOf(scenario.durationMs), toMs: fromMs }) +
          answeredPercent(run, fast, windows.after)) /
          2,
        (during.answered * 1_000) / (toMs - fromMs),
        answeredPercent(run, slow, windows.after),
        run.cpuPercent,
        run.lateShare * 100,
      ]
    }),
    notes: [
      `${scenario.durationMs / 1_000} s: 100 requests per second to \`/db\` (\`select pg_sleep($1)\`, a pool of 10 connections, PostgreSQL ${version}) and 200 to \`/fast\`, which answers from memory. Both need one of 12 workers of the process. The fixed cap is 100.`,
    ],
    curves: contenders.map((name) => curveOf(name, runs[name])),
  }
}

function targetsOf(runs, windows) {
  return judged.map((name) =>
    judgedRow(
      `slow dependency: ${name}: /fast, answered % while the database is slow`,
      runs[name].isValid,
      answeredPercent(runs[name], fast, windows.slow),
      { atLeast: 99 },
    ),
  )
}
