import { boundColumns } from '../run/target.mjs'
import { published, shedding, sluice } from './contender-names.mjs'
import { costTables } from './cost.mjs'
import { curveOf } from './curves.mjs'
import { runDependency } from './dependency.mjs'
import { bestFixedCap } from './fixed-cap.mjs'
import { judgedRow, shownName } from './judged-row.mjs'
import { modelTables } from './models.mjs'
import { scenarios } from './scenarios.mjs'
import { measureCapacity, runServer } from './server-run.mjs'

const serverCell = new URL('./server/server-cell.mjs', import.meta.url)
const seed = 1
const quickScale = 0.25
const smokeScale = 0.004
const smokeGiveUpMs = 500
/** `quick`: a quarter of all durations. `lanes`: contenders whose work needs no CPU that run side by side. */
export async function run({
  smoke = false,
  quick = false,
  only = '',
  scenario: wanted = '',
  lanes = 1,
  progress = () => {},
} = {}) {
  const scale = smoke ? smokeScale : quick ? quickScale : 1
  const tables = []
  const targets = []
  for (const scenario of scenarios(scale).filter(({ name }) => name.includes(wanted))) {
    const made = await playScenario(await prepared(scenario, smoke), {
      names: contendersOf(scenario, smoke).filter((name) => name.includes(only)),
      lanes: smoke ? scenario.contenders.length : scenario.isLight ? lanes : 1,
      progress,
    })
    tables.push(made.table)
    targets.push(...made.targets)
  }
  const giveUpMs = smoke ? smokeGiveUpMs : undefined
  const others = [
    ['slow dependency', () => runDependency({ scale, seed, giveUpMs, progress })],
    ['models', () => modelTables({ smoke, progress })],
    ['cost', () => costTables({ smoke, progress })],
  ]
  // these have no contenders to choose from
  for (const [, make] of others.filter(([name]) => only === '' && name.includes(wanted))) {
    const made = await make()
    tables.push(...made.tables)
    targets.push(...made.targets)
  }
  return targets.length > 0 ? [...tables, targetTable(targets, quick)] : tables
}

function targetTable(rows, quick) {
  const notes = [
    'Requirements of each scenario. Goodput: answered with 2xx within a second of the time when the request was due.',
  ]
  if (quick) notes.push('With `--quick`: a quarter of all durations, except on virtual time.')
  return { title: 'Overload targets', columns: boundColumns, rows, notes }
}

/** Measures the capacity of CPU work, and finds the best fixed cap. */
async function prepared(scenario, smoke) {
  const measured = scenario.service.cpuMs === undefined ? scenario : await withCapacity(scenario, smoke)
  const ready = smoke ? { ...measured, giveUpMs: smokeGiveUpMs } : measured
  if (!ready.contenders.includes('fixed cap')) return ready
  return { ...ready, settings: { ...ready.settings, fixedCap: await bestFixedCap(ready) } }
}

/** A smoke run starts every contender once, and one contender of the other scenarios. */
function contendersOf({ name, contenders }, smoke) {
  return smoke && name !== 'comparison' ? [contenders.at(-1)] : contenders
}

async function withCapacity(scenario, smoke) {
  const options = { contender: 'no limiter', service: scenario.service, settings: {} }
  const perSecond = await measureCapacity(serverCell, options, { callers: 4, ms: smoke ? 200 : 4_000 })
  const sources = scenario.sources.map(({ rateOf, ...source }) => ({ ...source, rate: rateOf(perSecond) }))
  return { ...scenario, sources, service: { ...scenario.service, measuredPerSecond: perSecond } }
}

async function playScenario(scenario, { names, lanes, progress }) {
  const runs = {}
  const left = [...names]
  const lane = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      progress(`overload: ${scenario.name}, ${name}`)
      const options = { contender: name, service: scenario.service, settings: scenario.settings }
      runs[name] = await runServer(serverCell, options, scenario, seed)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { table: tableOf(scenario, names, runs, lanes), targets: targetsOf(scenario, names, runs) }
}

function tableOf(scenario, names, runs, lanes) {
  const { columns } = scenario.verdict
  return {
    title: scenario.title,
    columns: ['contender', ...columns.map(([title]) => title), 'refused %', 'CPU %', 'sent late %'],
    rows: names.map((name) => {
      const run = runs[name]
      return [
        shownName(name, run),
        ...columns.map(([, figure]) => figure(run)),
        refusedPercent(run),
        run.cpuPercent,
        run.lateShare * 100,
      ]
    }),
    notes: [notesOf(scenario, lanes)],
    curves: names.map((name) => curveOf(name, runs[name])),
  }
}

function notesOf({ durationMs, settings, service, sources }, lanes) {
  const capacity = service.measuredPerSecond
  const measured = capacity === undefined ? '' : ` Capacity, measured before: ${capacity.toFixed(0)} per second.`
  const beside = lanes > 1 ? ` ${lanes} contenders side by side.` : ''
  const classes = sources.length > 1 ? ` Sources: ${sources.map(({ name }) => name).join(', ')}.` : ''
  const cap = settings.fixedCap === undefined ? '' : ` The fixed cap is ${settings.fixedCap}, the best on virtual time.`
  return `${durationMs / 1_000} s, seed ${seed}.${cap}${measured}${classes}${beside}`
}

function refusedPercent({ record }) {
  return (100 * record.outcome.filter((outcome) => outcome === 2).length) / Math.max(1, record.outcome.length)
}

function targetsOf({ name: scenario, verdict }, names, runs) {
  const rivals = names.filter((name) => published.includes(name)).map((name) => runs[name])
  return names
    .filter((name) => name === shedding || sluice.includes(name))
    .flatMap((name) =>
      verdict.targets.map(([what, figure, bound]) => {
        const needed = verdict.needsRivals ? [runs[name], ...rivals] : [runs[name]]
        const isValid = needed.every((run) => run.isValid)
        return judgedRow(`${scenario}: ${name}: ${what}`, isValid, figure(runs[name], rivals), bound)
      }),
    )
}
