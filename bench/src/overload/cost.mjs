import { runChild } from '../run/child.mjs'
import { quartilesOf } from '../run/quartiles.mjs'
import { boundRow } from '../run/target.mjs'

const cell = new URL('./cost-cell.mjs', import.meta.url)
const mostAddedUs = 2

/** Cost of a request that finds a free place: acquire and release. */
export async function costTables({ smoke, progress }) {
  progress('overload: cost per request')
  const { names, results } = await runChild(cell, smoke ? { calls: 100, turns: 2 } : { calls: 20_000, turns: 60 })
  const [fixed] = names
  const added = (name) => quartilesOf(results.map((ns) => (ns[name] - ns[fixed]) / 1_000))
  const table = {
    title: 'Cost per request of a cap',
    columns: ['cap', 'µs', 'added µs', 'quartiles'],
    rows: names.map((name) => {
      const { low, median, high } = added(name)
      const us = quartilesOf(results.map((ns) => ns[name] / 1_000)).median
      return [name, us, median, `${low.toFixed(2)} to ${high.toFixed(2)}`]
    }),
    notes: [
      '`acquire` and `release` of a place that is free, in turns of one process. Added: to a fixed cap in the same turn.',
    ],
  }
  const targets = names
    .slice(1)
    .map((name) => boundRow(`cost: ${name}: µs over a fixed cap`, added(name).median, { atMost: mostAddedUs }))
  return { tables: [table], targets }
}
