import { boundColumns } from '../run/target.mjs'
import { costTables } from './cost.mjs'
import { modelTables } from './models.mjs'
import { play } from './play.mjs'
import { tableOf, targetsOf } from './scenario-table.mjs'
import { scenarios } from './scenarios.mjs'

const quickScale = 0.25
const smokeScale = 0.004
const smokeGiveUpMs = 500

/** `quick`: a quarter of all durations. `lanes`: runs that are side by side, if their scenario permits it. */
export async function run({
  smoke = false,
  quick = false,
  only = '',
  scenario: wanted = '',
  lanes = 1,
  rounds = 3,
  progress = () => {},
} = {}) {
  const scale = smoke ? smokeScale : quick ? quickScale : 1
  const tables = []
  const targets = []
  for (const scenario of scenarios(scale).filter(({ name }) => name.includes(wanted))) {
    const beside = Math.min(lanes, scenario.mostLanes ?? 1)
    const played = await play(scenario, {
      names: contendersOf(scenario, smoke).filter((name) => name.includes(only)),
      rounds: smoke ? 1 : rounds,
      lanes: smoke ? scenario.contenders.length : beside,
      giveUpMs: smoke ? smokeGiveUpMs : undefined,
      isShort: smoke,
      progress,
    })
    tables.push(tableOf(played, beside))
    targets.push(...targetsOf(played))
  }
  const others = [
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
    'Requirements of each scenario, which each round must meet: measured is the worst. Goodput: answered with 2xx within a second of the time when the request was due.',
  ]
  if (quick) notes.push('With `--quick`: a quarter of all durations, except on virtual time.')
  return { title: 'Overload targets', columns: boundColumns, rows, notes }
}

/** A smoke run starts every contender once, and one contender of the other scenarios. */
function contendersOf({ name, contenders }, smoke) {
  return smoke && name !== 'comparison' ? [contenders.at(-1)] : contenders
}
