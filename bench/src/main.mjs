import { parseArgs } from 'node:util'
import { savePart, saveResult, writeReadme } from './run/readme.mjs'
import { formatTable, proveTable } from './run/table.mjs'

const benches = {
  decisions: () => import('./decisions/decisions.mjs'),
  earlier: () => import('./decisions/earlier-build.mjs'),
  kernel: () => import('./kernel/kernel.mjs'),
  memory: () => import('./memory/memory.mjs'),
  http: () => import('./http/http.mjs'),
  hash: () => import('./hash/hash.mjs'),
  redis: () => import('./redis/redis.mjs'),
  clients: () => import('./redis/clients.mjs'),
  leases: () => import('./sync/leases.mjs'),
  synced: () => import('./sync/synced.mjs'),
  sketches: () => import('./sketches/sketches.mjs'),
  floods: () => import('./floods/sketch-limits.mjs'),
  counters: () => import('./counters/counters.mjs'),
  quotas: () => import('./quotas/quotas.mjs'),
  postgres: () => import('./postgres/postgres.mjs'),
  stores: () => import('./stores/stores.mjs'),
  holds: () => import('./holds/holds.mjs'),
  objects: () => import('./durable-objects/durable-objects.mjs'),
  insight: () => import('./insight/insight.mjs'),
  replay: () => import('./replay/replay.mjs'),
  overload: () => import('./overload/overload.mjs'),
}
const names = Object.keys(benches)
const usage = `npm run bench -- [${names.join('] [')}] [options]

  --write         keep the result, or that of --scenario, and write bench/README.md
  --smoke         a short run that only checks that every bench works
  --json          print the tables as JSON
  --only <text>   contenders whose name contains the text
  --rounds <n>    (3)
  --ms <n>        CPU bench of a decision: milliseconds per cell (1000)
  --seconds <n>   HTTP, Redis: seconds per contender and round, in turns of one (5)
  --quick         overload: a quarter of all durations
  --scenario <text>  overload: scenarios whose name contains the text
  --lanes <n>     overload: runs side by side, if their work needs little CPU (1)
  --quiet         no progress lines`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    only: { type: 'string' },
    scenario: { type: 'string' },
    lanes: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    ms: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '5' },
  },
})

function refuse(why) {
  console.error(`${why}\n\n${usage}`)
  process.exit(2)
}

function positive(option) {
  const number = Number(values[option])
  if (!(number > 0)) refuse(`--${option} must be a positive number, got ${values[option]}`)
  return number
}

function save(bench, tables) {
  if (values.scenario === undefined) return saveResult(bench, tables)
  savePart(bench, tables, `npm run bench -- ${bench} --scenario "${values.scenario}" --lanes ${values.lanes} --write`)
}

async function main() {
  const unknown = positionals.find((name) => !Object.hasOwn(benches, name))
  if (unknown !== undefined) refuse(`there is no bench "${unknown}"`)
  if (values.write && (values.smoke || values.only !== undefined)) refuse('--write keeps whole scenarios only')
  const options = {
    smoke: values.smoke,
    only: values.only,
    quick: values.quick,
    scenario: values.scenario,
    lanes: positive('lanes'),
    rounds: positive('rounds'),
    cellMs: positive('ms'),
    seconds: positive('seconds'),
    progress: (line) => values.quiet || values.smoke || console.error(line),
  }
  if (values.smoke && !values.json) console.log('A smoke run: the figures mean nothing.\n')
  const results = {}
  for (const bench of positionals.length > 0 ? positionals : names) {
    const { run } = await benches[bench]()
    const made = [await run(options)].flat()
    // without a Sluice contender there is nothing to compare with a target
    const tables = values.only === undefined ? made : made.filter(({ rows }) => rows.length > 0)
    tables.forEach(proveTable)
    results[bench] = tables
    if (!values.json) for (const table of tables) console.log(formatTable(table))
    if (values.write) save(bench, tables)
  }
  if (values.json) console.log(JSON.stringify(results))
  if (values.write) writeReadme(names)
}

if (values.help) console.log(usage)
else await main()
