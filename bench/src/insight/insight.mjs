import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { spreadOf } from '../run/spread.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'
import { insightContenders } from './insight-contenders.mjs'

const httpCell = new URL('../http/http-cell.mjs', import.meta.url)
const cell = new URL('./insight-cell.mjs', import.meta.url)
const streamCell = new URL('./insight-stream-cell.mjs', import.meta.url)
const loads = { zipf10k: 'Zipf 10k', uni1m: '1M keys' }
const viewers = 50
const keys = 100_000
const turnsOfProcess = 12
const requestsOfTurn = 500
const groups = [...new Set(insightContenders.map(({ group }) => group))]
const [bare, watched, logged] = [...new Set(insightContenders.map(({ variant }) => variant))]

/** `seconds`: duration of each cell. Requests have twice as many `rounds`, each with new processes. */
export async function run({ smoke = false, rounds = 3, seconds = 5, progress = () => {} } = {}) {
  const ms = smoke ? 50 : seconds * 1_000
  const ask = (file, options) => {
    progress(`insight: ${JSON.stringify(options)}`)
    return runChild(file, options, ['--expose-gc'])
  }
  const cells = {
    ...Object.fromEntries(Object.keys(loads).map((load) => [load, [cell, { what: 'decisions', load, ms }]])),
    memory: [cell, { what: 'memory', keys: smoke ? 1_000 : keys, settleMs: smoke ? 0 : 2_500 }],
    quiet: [streamCell, { viewers, ms: smoke ? 1_200 : 20_000, perTurn: 0 }],
    flood: [streamCell, { viewers, ms: smoke ? 1_200 : 20_000, perTurn: 64 }],
  }
  const { memory, quiet, flood, ...decisions } = smoke ? await allAtOnce(cells, ask) : await oneByOne(cells, ask)
  const streams = { quiet, flood }
  const turns = smoke ? [[await smokeTurn()]] : await requestRounds(2 * rounds, progress)
  return [
    ...groups.map((group) => requestTable(group, turns)),
    decisionTable(decisions),
    stateTable(memory),
    streamTable(streams),
    targetTable({ turns, decisions, streams }),
  ]
}

async function oneByOne(cells, ask) {
  const results = {}
  for (const [name, [file, options]] of Object.entries(cells)) results[name] = await ask(file, options)
  return results
}

async function allAtOnce(cells, ask) {
  const asked = Object.entries(cells).map(async ([name, [file, options]]) => [name, await ask(file, options)])
  return Object.fromEntries(await Promise.all(asked))
}

/** A few requests for each server, all frameworks in parallel. */
async function smokeTurn() {
  const turns = await Promise.all(
    groups.map((group) => turnsOf(group, { turns: 1, warmupTurns: 0, requests: 8, seed: 1 })),
  )
  return Object.assign({}, ...turns.flat())
}

/** CPU per request by server, in turns of every framework in new processes. */
async function requestRounds(rounds, progress) {
  const taken = Array.from({ length: rounds }, () => Array.from({ length: turnsOfProcess }, () => ({})))
  for (let round = 0; round < rounds; round++) {
    for (const group of groups) {
      progress(`insight, round ${round + 1}: ${group}`)
      const options = { turns: turnsOfProcess, warmupTurns: 4, requests: requestsOfTurn, seed: round + 1 }
      for (const [index, turn] of (await turnsOf(group, options)).entries()) Object.assign(taken[round][index], turn)
    }
  }
  return taken
}

function turnsOf(group, options) {
  return runChild(httpCell, { names: ofGroup(group).map(({ name }) => name), mode: 'sockets', ...options })
}

function ofGroup(group) {
  return insightContenders.filter((contender) => contender.group === group)
}

/**
 * Additional cost of a variant per request in the same turn, in µs and in % of the server without it. Processes with the
 * same code differ in speed, so the spread is computed over rounds, using the median of each.
 */
function addedOf(group, variant, rounds) {
  const addedUs = (turn) => turn[`${group}, ${variant}`] - turn[`${group}, ${bare}`]
  const us = spreadOf(rounds.map((turns) => median(turns.map(addedUs))))
  const bareUs = median(rounds.flat().map((turn) => turn[`${group}, ${bare}`]))
  return { us, percent: (us.median * 100) / bareUs, bareUs }
}

function requestTable(group, turns) {
  const rows = [watched, logged].map((variant) => {
    const { us, percent, bareUs } = addedOf(group, variant, turns)
    return [variant, bareUs, us.median, us.within, percent]
  })
  return {
    title: `${group}: CPU per request, behind \`rateLimit\``,
    columns: ['server', 'without, µs', 'added µs', '±', 'added %'],
    rows,
    notes: [],
  }
}

function decisionTable(decisions) {
  const rows = Object.entries(loads).flatMap(([load, title]) => {
    const { bareNs, insight, logged: both } = decisions[load]
    return [
      [`${title}, ${watched}`, bareNs, insight.median, insight.within],
      [`${title}, ${logged}`, bareNs, both.median, both.within],
    ]
  })
  return {
    title: 'CPU per decision with its request, no framework',
    columns: ['keys', 'without, ns', 'added ns', '±'],
    rows,
    notes: [
      'Five policies, ten routes; the added time includes the end of the response with its event. Variants take turns of 4,096 decisions in one process. "±" is two standard errors of the median: of turns here, of rounds with new processes in the tables of requests.',
    ],
  }
}

function stateTable({ bytes, policies, routes, snapshotUs }) {
  return {
    title: 'An insight with 100,000 keys',
    columns: ['policies', 'routes', 'MB held', 'a snapshot, µs', '±'],
    rows: [[policies, routes, bytes / 1e6, snapshotUs.median, snapshotUs.within]],
    notes: ['The memory of the limiters themselves is not included.'],
  }
}

function streamTable(streams) {
  const rows = Object.entries({ quiet: 'nothing is asked', flood: 'a flood' }).map(([name, title]) => {
    const { updateUs, percent, processPercent, decisionsPerSecond, updates, received } = streams[name]
    const bytes = received / viewers / Math.max(1, updates)
    return [title, decisionsPerSecond, updateUs.median, updateUs.within, percent, processPercent, bytes]
  })
  return {
    title: `The stream of the page, ${viewers} viewers, an update a second`,
    columns: [
      'while',
      'decisions/s',
      'an update, µs',
      '±',
      '% of a core',
      '% of a core, whole process',
      'bytes an update',
    ],
    rows,
    notes: [
      'An update consists of a snapshot, its serialization, and a write to each viewer; its CPU is measured around it. The flood is a loop of decisions over 2^20 keys that uses the whole process.',
    ],
  }
}

function targetTable({ turns, decisions, streams }) {
  const requests = groups.map((group) => {
    const { us, percent } = addedOf(group, watched, turns)
    // either target suffices: the smaller one as a share of its goal
    const share = Math.min(us.median / 1, percent / 3)
    return targetRow(`${group}: added, of 1 µs or 3 %, × the wider`, share, 1)
  })
  const decision = Math.max(...Object.values(decisions).map(({ insight }) => insight.median))
  return {
    title: 'Insight targets',
    columns: targetColumns,
    rows: [
      ...requests,
      targetRow('a decision with its request: added ns', decision, 1_000),
      targetRow(`the stream under a flood, ${viewers} viewers: % of a core`, streams.flood.percent, 1),
    ],
    notes: [],
  }
}
