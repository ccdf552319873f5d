import { runChild } from '../run/child.mjs'
import { lowestTenth } from '../run/lowest-tenth.mjs'
import { quartilesOf } from '../run/quartiles.mjs'
import { chooseHttpContenders } from './http-contenders.mjs'
import { httpTargetTable } from './http-targets.mjs'

const httpCell = new URL('./http-cell.mjs', import.meta.url)
const modes = ['sockets', 'injected']
/** Requests per server and turn: a turn of all servers of a framework takes about a third of a second. */
const requests = 200
const warmupTurns = 8

/** `seconds`: about the duration of each mode and framework in each of `rounds` fresh processes. */
export async function run({ smoke = false, rounds = 3, only = '', seconds = 5, progress = () => {} } = {}) {
  const chosen = chooseHttpContenders(only)
  const groups = [...new Set(chosen.map(({ group }) => group))]
  const measured = new Map()
  if (smoke) {
    const cells = groups.flatMap((group) => modes.map((mode) => ({ group, mode })))
    const run = (cell) => turnsOf(chosen, cell, { turns: 1, warmupTurns: 0, requests: 8, seed: 1 })
    const results = await Promise.all(cells.map(run))
    for (const [index, { group, mode }] of cells.entries()) measured.set(keyOf(group, mode), results[index])
  } else {
    for (let round = 0; round < rounds; round++) {
      for (const group of groups) {
        for (const mode of modes) {
          progress(`http, round ${round + 1}: ${group}, ${mode}`)
          const turns = await turnsOf(chosen, { group, mode }, { turns: seconds * 6, seed: round + 1 })
          measured.set(keyOf(group, mode), [...(measured.get(keyOf(group, mode)) ?? []), ...turns])
        }
      }
    }
  }
  const figures = Object.fromEntries(modes.map((mode) => [mode, figuresOf(chosen, mode, measured)]))
  return [...groups.map((group) => costTable(group, chosen, figures)), httpTargetTable(chosen, figures)]
}

function keyOf(group, mode) {
  return `${group}, ${mode}`
}

function turnsOf(chosen, { group, mode }, options) {
  const names = chosen.filter((one) => one.group === group).map(({ name }) => name)
  return runChild(httpCell, { names, mode, requests, warmupTurns, ...options })
}

/**
 * The lowest tenth of all turns of all processes, which other work on the machine disturbs least, and the quartiles. The
 * quartiles of a difference are those of the differences within a turn.
 */
function figuresOf(chosen, mode, measured) {
  const turnsWith = (name) => {
    const { group } = chosen.find((one) => one.name === name)
    return measured.get(keyOf(group, mode))
  }
  const lowest = (name) => lowestTenth(turnsWith(name).map((turn) => turn[name]))
  return {
    cpuUs: (name) => ({ us: lowest(name), ...quartilesOf(turnsWith(name).map((turn) => turn[name])) }),
    added: (name, to) => ({
      us: lowest(name) - lowest(to),
      ...quartilesOf(turnsWith(name).map((turn) => turn[name] - turn[to])),
    }),
  }
}

function costTable(group, chosen, figures) {
  return {
    title: `${group}: CPU per request`,
    columns: ['server', ...modes.flatMap((mode) => [`${mode}: µs`, 'added µs', 'quartiles'])],
    rows: chosen
      .filter((one) => one.group === group)
      .map(({ name, bare }) => [name, ...modes.flatMap((mode) => cellsOf(figures[mode], name, bare))]),
    notes: [],
  }
}

function cellsOf({ cpuUs, added }, name, bare) {
  const { us, low, high } = added(name, bare)
  return [cpuUs(name).us, us, `${low.toFixed(1)} to ${high.toFixed(1)}`]
}
