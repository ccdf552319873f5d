import { runChild } from '../run/child.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { families } from './sketch-families.mjs'
import { targetTable } from './sketch-targets.mjs'

const child = new URL('./sketch-child.mjs', import.meta.url)
// a young generation too large to be collected during a run, so that garbage per call can be measured
const flags = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256']
// share of the usual time per cell, because there are more cells here
const shareOfCell = 0.25

export async function run({ smoke = false, rounds = 3, only = '', cellMs = 1_000, progress = () => {} } = {}) {
  const chosen = only === '' ? Object.keys(families) : Object.keys(families).filter((name) => name.includes(only))
  const options = { smoke, cellMs: smoke ? 2 : cellMs * shareOfCell }
  const of = {}
  for (const name of chosen) {
    progress(`sketches: ${name}`)
    of[name] = await measureFamily(name, { ...options, rounds: smoke ? 1 : rounds, progress })
  }
  const tables = chosen.flatMap((name) => families[name].tables(of[name]))
  return only === '' ? [...tables, targetTable(families, of)] : tables
}

async function measureFamily(family, { rounds, progress, ...options }) {
  const { contenders, speeds = [], tasks } = families[family]
  const measured = new Map()
  const note = (cell, result) => measured.set(idOf(cell), [...(measured.get(idOf(cell)) ?? []), result])
  const once = tasks
    ? contenders.map(({ name, task }) => ({ family, name, task }))
    : contenders.flatMap(({ name }) =>
        ['held', 'errors'].map((task) => ({ family, name, task, values: families[family].values })),
      )
  const cells = contenders.flatMap(({ name, noop }) =>
    // the cost of the loop does not depend on the called function
    speeds.filter(({ method }) => !(noop && method)).map((speed) => ({ family, name, task: 'speed', ...speed })),
  )
  for (let round = 0; round < rounds; round++) {
    const order = shuffled(cells, seededRandom(41 + round))
    if (order.length > 0) progress(`sketches, round ${round + 1}: ${family}, ${order.length} cells`)
    await measureCells(order, { ...options, note, flags: [] })
  }
  await measureCells(once, { ...options, note, flags, progress })
  return figuresOf(contenders, measured, family)
}

/** One child per cell; a smoke run uses one child for all. */
async function measureCells(cells, { smoke, cellMs, note, flags, progress = () => {} }) {
  for (const asked of smoke ? [cells] : cells.map((cell) => [cell])) {
    if (asked.length === 0) continue
    if (!smoke) progress(`sketches: ${asked[0].family}, ${asked[0].name}, ${asked[0].task}`)
    // no figure of a smoke run counts, and a collection takes longer than a cell
    const results = await runChild(child, { cells: asked, smoke, cellMs }, smoke ? [] : flags)
    // values that a contender does not have are null
    for (const [at, cell] of asked.entries()) note(cell, results[at] ?? undefined)
  }
}

function figuresOf(contenders, measured, family) {
  const of = (cell) => measured.get(idOf({ family, ...cell }))
  return {
    noop: contenders.find(({ noop }) => noop),
    speed: ({ name }, load, method) => of({ name, task: 'speed', load, method }),
    held: ({ name }) => of({ name, task: 'held' })[0],
    errors: ({ name }) => of({ name, task: 'errors' })[0],
    result: (wanted) => {
      const { task } = contenders.find(({ name }) => name === wanted)
      return of({ name: wanted, task })[0]
    },
  }
}

function idOf({ family, name, task, load = '', method = 'add' }) {
  return [family, name, task, load, method].join('\n')
}
