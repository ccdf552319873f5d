import { runChild } from './child.mjs'
import { chooseContenders } from './contenders.mjs'
import { loads } from './loads.mjs'
import { yardstick } from './map-contenders.mjs'
import { median } from './median.mjs'
import { seededRandom, shuffled } from './random.mjs'
import { targetColumns, targetRow } from './target.mjs'

const decisionCell = new URL('./decision-cell.mjs', import.meta.url)
const garbageCell = new URL('./garbage-cell.mjs', import.meta.url)
const loadNames = ['hot', 'uni10k', 'fresh10k', 'uni1m', 'zipf1m']
const handedTargets = { hot: 1.2, uni10k: 0.9, uni1m: 0.6, zipf1m: 0.6 }
const garbageFlags = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256']

export async function run({ smoke = false, rounds = 3, only, cellMs = 1_000, progress = () => {} } = {}) {
  const chosen = chooseContenders(only).filter(({ onlyMemory }) => !onlyMemory)
  const taken = []
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    taken.push(await runRound(chosen, round, { smoke, cellMs: smoke ? 10 : cellMs, progress }))
  }
  const garbage = {}
  for (const { name } of chosen) {
    progress(`garbage: ${name}`)
    garbage[name] = await runChild(garbageCell, { name, loads: ['hot', 'uni10k'], smoke }, garbageFlags)
  }
  const summary = summarize(chosen, taken)
  return [speedTable(chosen, summary, garbage), targetTable(chosen, summary)]
}

/** One child per contender and load, in random order; a smoke run uses one child for all loads. */
async function runRound(chosen, round, { smoke, cellMs, progress }) {
  const asked = smoke ? [loadNames] : loadNames.map((load) => [load])
  const cells = chosen.flatMap(({ name }) => asked.map((names) => ({ name, loads: names })))
  const results = {}
  for (const cell of shuffled(cells, seededRandom(1 + round))) {
    progress(`decisions, round ${round + 1}: ${cell.name}, ${cell.loads.join(' ')}`)
    const answer = await runChild(decisionCell, { ...cell, smoke, cellMs, seed: 1 + round })
    results[cell.name] = { ...results[cell.name], ...answer }
  }
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

function speedTable(chosen, summary, garbage) {
  const rows = chosen.map(({ name }) => {
    const speeds = loadNames.flatMap((load) => [summary[name][load].ns, summary[name][load].ratio])
    return [name, ...speeds, garbage[name].hot, garbage[name].uni10k]
  })
  const columns = loadNames.flatMap((load) => [`${loads[load].title}, ns`, '×'])
  return {
    title: 'CPU ns per decision in one process',
    columns: ['contender', ...columns, 'garbage B, hot', 'garbage B, 10k'],
    rows,
    notes: [
      `×: against "${yardstick}", which reads its own clock, in the same round.`,
      'Every contender first had to deny a key above its limit without affecting a second key.',
      'The reused strings carry their hash with them, which favours Map and LRU; "10k fresh" makes a new string per call (subtract its noop row).',
    ],
  }
}

function targetTable(chosen, summary) {
  const sluice = chosen.filter(({ role }) => role === 'sluice')
  const rows = sluice.flatMap(({ name, handed }) => {
    if (!handed) return slowerThanNoPeer(name, chosen, summary)
    return Object.entries(handedTargets).map(([load, atMost]) => {
      return targetRow(`${name}: ${loads[load].title}, × Map`, summary[name][load].ratio, atMost)
    })
  })
  return { title: 'Decision targets', columns: targetColumns, rows, notes: [] }
}

function slowerThanNoPeer(name, chosen, summary) {
  const peers = chosen.filter(({ role }) => role === 'peer')
  if (peers.length === 0) return []
  return loadNames.map((load) => {
    const fastest = Math.min(...peers.map((peer) => summary[peer.name][load].ns))
    return targetRow(`${name}: ${loads[load].title}, ns, fastest peer`, summary[name][load].ns, fastest)
  })
}
