import { Cells } from '../run/cells.mjs'
import { median } from '../run/median.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { chooseContenders } from './contenders.mjs'
import { decisionTargetTable, percentOfCore } from './decision-targets.mjs'
import { garbageFlags } from './garbage.mjs'
import { loads } from './loads.mjs'
import { emptyLoop, yardstick } from './map-contenders.mjs'

const decisionCell = new URL('./decision-cell.mjs', import.meta.url)
const costCell = new URL('./cost-cell.mjs', import.meta.url)
const loadNames = ['hot', 'uni10k', 'fresh10k', 'uni1m', 'zipf1m']
const costFigures = ['p999Us', 'garbageBytes', 'excessPercent']

export async function run({ smoke = false, rounds = 3, only, cellMs = 1_000, progress = () => {} } = {}) {
  const chosen = chooseContenders(only).filter(({ onlyMemory }) => !onlyMemory)
  const taken = []
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    taken.push(await runRound(chosen, round, { smoke, cellMs: smoke ? 10 : cellMs, progress }))
  }
  const summary = summarize(chosen, taken)
  const costs = await costsOf(chosen, summary, { smoke, progress })
  return [speedTable(chosen, summary), costTable(chosen, costs), decisionTargetTable(chosen, costs)]
}

/** One child per contender and load, in random order; a smoke run uses one child for all of them. */
async function runRound(chosen, round, { smoke, cellMs, progress }) {
  const asked = smoke ? [loadNames] : loadNames.map((load) => [load])
  const cells = chosen.flatMap(({ name }) => asked.map((names) => ({ name, loads: names })))
  const results = {}
  const decisionCells = new Cells([], { together: smoke })
  for (const cell of shuffled(cells, seededRandom(1 + round))) {
    progress(`decisions, round ${round + 1}: ${cell.name}, ${cell.loads.join(' ')}`)
    const answer = await decisionCells.run(decisionCell, { ...cell, smoke, cellMs, seed: 1 + round })
    results[cell.name] = { ...results[cell.name], ...answer }
  }
  decisionCells.close()
  return results
}

function summarize(chosen, taken) {
  const summary = {}
  for (const { name } of chosen) {
    summary[name] = {}
    for (const load of loadNames) {
      summary[name][load] = {
        ns: median(taken.map((round) => round[name][load])),
        ratio: median(taken.map((round) => round[name][load] / round[yardstick][load])),
      }
    }
  }
  return summary
}

/** What decisions of each contender cost a busy process, beside what it admits above a limit. */
async function costsOf(chosen, summary, { smoke, progress }) {
  const cells = {
    measured: new Cells([], { together: smoke }),
    collected: new Cells(garbageFlags, { together: smoke }),
  }
  const garbageOfLoop = (await figuresOf(cells, emptyLoop, ['garbageBytes'], smoke)).garbageBytes
  const costs = {}
  for (const { name } of chosen) {
    progress(`decisions, tail, garbage and excess: ${name}`)
    const { p999Us, garbageBytes, excessPercent } = await figuresOf(cells, name, costFigures, smoke)
    const garbage = Math.max(0, garbageBytes - garbageOfLoop)
    costs[name] = { slowest: slowestOf(summary[name]), p999Us, garbage, excessPercent }
  }
  cells.measured.close()
  cells.collected.close()
  return costs
}

/** One child per figure; a smoke run uses one child for all figures. */
async function figuresOf({ measured: plain, collected }, name, figures, smoke) {
  const asked = smoke ? [figures] : figures.map((figure) => [figure])
  const measured = {}
  for (const some of asked) {
    const cells = some.includes('garbageBytes') ? collected : plain
    Object.assign(measured, await cells.run(costCell, { name, figures: some, smoke }))
  }
  return measured
}

function slowestOf(speeds) {
  const [slowest] = loadNames
    .map((load) => ({ ns: speeds[load].ns, title: loads[load].title }))
    .sort((a, b) => b.ns - a.ns)
  return slowest
}

function speedTable(chosen, summary) {
  const columns = loadNames.flatMap((load) => [`${loads[load].title}, ns`, '×'])
  return {
    title: 'CPU ns per decision in one process',
    columns: ['contender', ...columns],
    rows: chosen.map(({ name }) => {
      return [name, ...loadNames.flatMap((load) => [summary[name][load].ns, summary[name][load].ratio])]
    }),
    notes: [
      `×: against "${yardstick}", which reads its own clock, in the same round. For information: it has no target.`,
      'Every contender first had to deny a key above its limit without affecting a second key.',
      'The reused strings carry their hash with them, which favours Map and LRU; "10k fresh" makes a new string per call (subtract its noop row).',
    ],
  }
}

function costTable(chosen, costs) {
  return {
    title: 'Decisions of a process with 10,000 requests a second',
    columns: [
      'contender',
      'slowest load',
      'µs',
      '% of a core',
      'decisions/s, one core',
      'p99.9 µs, hot',
      'garbage B, hot',
      'above the limit %, 10k keys',
    ],
    rows: chosen.map(({ name }) => {
      const { slowest, p999Us, garbage, excessPercent } = costs[name]
      const { title, ns } = slowest
      return [name, title, ns / 1_000, percentOfCore(ns), 1e9 / ns, p999Us, garbage, excessPercent]
    }),
    notes: [
      'The slowest load of the table above. p99.9: a million decisions on one key in a tight loop, each with two readings of the clock, collections of garbage included. Garbage: heap bytes per decision over a million decisions, without those of an empty loop. Above the limit: 10,000 keys take twice their limit of 10 in turn.',
    ],
  }
}
