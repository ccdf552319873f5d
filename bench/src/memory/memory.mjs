import { chooseContenders } from '../decisions/contenders.mjs'
import { Cells } from '../run/cells.mjs'
import { median } from '../run/median.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const floodCell = new URL('./flood-cell.mjs', import.meta.url)
const memoryCell = new URL('./memory-cell.mjs', import.meta.url)
// enough for peers that would exceed Node's default heap with 5M keys
const flags = ['--expose-gc', '--max-old-space-size=12288']
const budgetMiB = 64
const millionKeys = 1e6
// the default budget holds a million clients of any policy whose memory does not depend on its limit
const mostBytesPerKey = (budgetMiB * 2 ** 20) / millionKeys
// a policy with one cell; the others use two or three
const oneCell = 'gcra'
const mostBytesOfOneCell = 40
// errors are maxima: an error in one round must not be averaged away
const errorFigures = new Set(['forgottenPercent', 'readmittedPercent', 'falselyDeniedPercent'])

export async function run({ smoke = false, rounds = 3, only, progress = () => {} } = {}) {
  const chosen = chooseContenders(only).filter(({ name }) => name !== 'Date.now() only')
  const live = smoke ? 2_000 : millionKeys
  const flooded = smoke ? 6_400 : 5_000_000
  const cells = new Cells(flags, { together: smoke })
  const taken = []
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    const results = {}
    for (const { name } of shuffled(chosen, seededRandom(11 + round))) {
      progress(`memory, round ${round + 1}: ${name}`)
      const held = await cells.run(memoryCell, { name, keys: live })
      const flood = await cells.run(floodCell, { name, keys: flooded, seed: round })
      results[name] = { ...held, ...flood }
    }
    taken.push(results)
  }
  cells.close()
  const of = (name, figure) => {
    const values = taken.map((results) => results[name][figure])
    return errorFigures.has(figure) ? Math.max(...values) : median(values)
  }
  return [heldTable(chosen, of), floodTable(chosen, of), targetTable(chosen, of)]
}

function heldTable(chosen, of) {
  const figures = ['bytesPerKey', 'rssBytesPerKey', 'nsPerInsert', 'forgottenPercent']
  return {
    title: 'Memory at 1M live keys',
    columns: ['contender', 'heap + external B/key', 'RSS B/key', 'insert CPU ns/key', 'forgotten %'],
    rows: chosen.map(({ name }) => [name, ...figures.map((figure) => of(name, figure))]),
    notes: [
      'Bytes: heapUsed + external (array buffers included) after a collection; key strings count if the contender keeps them. Sluice: maxBytes 96 MiB, for logs 768 MiB, room for all keys; the default of 64 MiB is the budget of the flood.',
      'Forgotten: number of 1,000 sampled keys with a limit of 1 that were allowed a second time.',
    ],
  }
}

function floodTable(chosen, of) {
  const figures = [
    'nsPerKey',
    'rssGrowthMiB',
    'worstStallMs',
    'worstStallCpuMs',
    'readmittedPercent',
    'falselyDeniedPercent',
  ]
  return {
    title: 'Attack: 5M distinct keys in one window',
    columns: [
      'contender',
      'CPU ns/new key',
      'peak RSS growth MiB',
      'worst stall ms',
      'CPU ms in that gap',
      'attackers readmitted %',
      'honest denied %',
    ],
    rows: chosen.map(({ name }) => [name, ...figures.map((figure) => of(name, figure))]),
    notes: [
      'Sluice: maxBytes 64 MiB. Stall: the longest gap between batches of 64 decisions, less the median batch; CPU time well below it means that the machine was busy with other work.',
      'Readmitted: takes of 100 clients, denied before the flood, that were allowed during or after it. Honest: takes of 1,000 clients at 30 % of their limit (all of a limit of one) that were denied during it.',
    ],
  }
}

function targetTable(chosen, of) {
  const rows = chosen
    .filter(({ role, handed }) => role === 'sluice' && handed)
    .flatMap(({ name }) => [
      ...bytesRows(name, of),
      targetRow(`${name}: 1M keys, forgotten %`, of(name, 'forgottenPercent'), 0),
      targetRow(`${name}: flood, RSS MiB`, of(name, 'rssGrowthMiB'), budgetMiB * 1.1),
      targetRow(`${name}: flood, worst stall ms`, of(name, 'worstStallMs'), 10),
      targetRow(`${name}: flood, attackers readmitted %`, of(name, 'readmittedPercent'), 0),
      targetRow(`${name}: flood, honest denied %`, of(name, 'falselyDeniedPercent'), 0),
    ])
  const notes = [
    'Requirements: the default of 64 MiB holds a million clients, 67 bytes each, and forgets none of them; the memory of a flood stays within a tenth of its budget, and no stall is longer than 10 ms.',
  ]
  return { title: 'Memory targets', columns: targetColumns, rows, notes }
}

/** A log has no target: its memory is a choice of the user, by the limit. */
function bytesRows(name, of) {
  if (name.includes('sliding-log')) return []
  const atMost = name.includes(oneCell) ? mostBytesOfOneCell : mostBytesPerKey
  return [targetRow(`${name}: 1M keys, B/key`, of(name, 'bytesPerKey'), atMost)]
}
