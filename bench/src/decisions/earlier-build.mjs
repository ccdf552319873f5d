// Compares the decision of a hot key with an earlier build of this repository, which is compiled from the history.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from '../run/child.mjs'
import { quartilesOf } from '../run/quartiles.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { boundColumns, boundRow } from '../run/target.mjs'
import { compileCore } from './compiled-core.mjs'

const cell = new URL('./earlier-build-cell.mjs', import.meta.url)
const root = fileURLToPath(new URL('../../..', import.meta.url))
/** The last commit of this day is the earlier build. */
const date = '2026-11-21'
const clocks = ['own clock', 'clock handed in']
// processes of the same code differ by a tenth: a median of 20 rounds is certain to a few percent
const pairsPerRound = 7
// in shorter cells the compiler takes most of the time
const msFactor = 2
/** Decisions must become cheaper and not more expensive; a tenth is more than the uncertainty of a median. */
const mostRatio = 0.9

/** A smoke run compares the working tree with itself, so that it needs no history. */
export async function run({ smoke = false, rounds = 3, cellMs = 1_000, progress = () => {} } = {}) {
  const commit = smoke ? undefined : lastCommitOf(date)
  // in the repository, so that the compiler finds the types of Node
  mkdirSync(join(root, '.artifacts'), { recursive: true })
  const folder = mkdtempSync(join(root, '.artifacts/builds-'))
  try {
    progress(`earlier: compiling ${commit}`)
    const paths = {
      earlier: compileCore(root, join(folder, 'earlier'), commit),
      now: compileCore(root, join(folder, 'now'), undefined),
    }
    const taken = []
    for (let round = 0; round < (smoke ? 1 : rounds * pairsPerRound); round++) {
      progress(`earlier, round ${round + 1}`)
      taken.push(await runRound(paths, round, smoke ? 10 : cellMs * msFactor))
    }
    return tablesOf(taken, commit)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function lastCommitOf(day) {
  const args = ['rev-list', '-1', `--until=${day}T23:59`, 'HEAD']
  const commit = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  if (commit === '') throw new Error(`the history of this clone has no commit until ${day}`)
  return commit
}

/** One process for each build and clock, in random order. */
async function runRound(paths, round, ms) {
  const cells = Object.entries(paths).flatMap(([build, path]) => clocks.map((clock) => ({ build, path, clock })))
  const taken = { earlier: {}, now: {} }
  for (const { build, path, clock } of shuffled(cells, seededRandom(1 + round))) {
    taken[build][clock] = await runChild(cell, { path, handed: clock !== 'own clock', ms })
  }
  return taken
}

function tablesOf(taken, commit) {
  const build = commit?.slice(0, 8) ?? 'the working tree'
  const ratios = (clock) => quartilesOf(taken.map(({ earlier, now }) => now[clock] / earlier[clock]))
  const rows = clocks.flatMap((clock) => [
    ...['earlier', 'now'].map((name) => [
      `${clock}: ${name}, ns`,
      ...quartileCells(quartilesOf(taken.map((round) => round[name][clock]))),
    ]),
    [`${clock}: now, × earlier`, ...quartileCells(ratios(clock))],
  ])
  const table = {
    title: `A decision now and on ${date}`,
    columns: ['sliding-window, hot key', 'lower quartile', 'median', 'upper quartile'],
    rows,
    notes: [
      `CPU per decision, now and as of ${build}. In each of ${taken.length} rounds every build runs in a new process for each clock, in random order; ratios are computed within a round. Both are compiled by the same compiler.`,
    ],
  }
  const targets = clocks.map((clock) =>
    boundRow(`sliding-window, ${clock}: now, × ${date}`, ratios(clock).median, { atMost: mostRatio }),
  )
  return [table, { title: 'Earlier build targets', columns: boundColumns, rows: targets, notes: [] }]
}

function quartileCells({ low, median, high }) {
  return [low, median, high]
}
