import { HeavyKeeper, SpaceSaving } from '@sluice/sketches'
import { loadTitles } from './sketch-clock.mjs'
import { heldCells, heldColumns, speedCells } from './sketch-figures.mjs'
import { idle } from './sketch-idle.mjs'
import { benchSeed, countsOf, keyText, zipfRanks } from './sketch-streams.mjs'

const loads = ['warm15', 'fresh15']
const keys = 100_000

function openOurs(sketch) {
  return { add: (key) => sketch.add(key), top: (n) => sketch.top(n) }
}

function openMap() {
  const map = new Map()
  const add = (key) => {
    const entry = map.get(key)
    if (entry === undefined) map.set(key, { key, count: 1 })
    else entry.count++
  }
  return { add, top: (n) => [...map.values()].sort((a, b) => b.count - a.count).slice(0, n) }
}

async function openPeer() {
  const { TopK } = (await import('bloom-filters')).default
  const sketch = new TopK(100, 0.001, 0.99)
  const top = (n) => [...sketch.values()].slice(0, n).map(({ value, frequency }) => ({ key: value, count: frequency }))
  return { add: (key) => sketch.add(key), top }
}

const contenders = [
  idle,
  { name: 'Map<key, { count }>', grows: true, open: openMap },
  { name: 'SpaceSaving 200', open: () => openOurs(new SpaceSaving({ capacity: 200 })) },
  { name: 'SpaceSaving 1000', open: () => openOurs(new SpaceSaving({ capacity: 1_000 })) },
  { name: 'HeavyKeeper 100', open: () => openOurs(new HeavyKeeper({ k: 100, seed: benchSeed })) },
  { name: 'bloom-filters TopK 100', slow: true, open: openPeer },
]

/** Share of the true top 10 and 100 that is found, and the worst error of the reported counts. */
async function errors(contender, smoke) {
  if (contender.noop) return undefined
  const events = smoke ? 2_000 : contender.slow ? 20_000 : 1_000_000
  const ranks = zipfRanks(keys, events, 3)
  const counts = countsOf(ranks, keys)
  const { add, top } = await contender.open()
  for (const rank of ranks) add(keyText(rank))
  const rankOf = new Map(Array.from(counts, (_, rank) => [keyText(rank), rank]))
  const truth = counts.slice().sort().reverse()
  const recalled = (n) => {
    // keys with the same count as the n-th key are equally correct
    const named = top(n).filter(({ key }) => counts[rankOf.get(key)] >= truth[n - 1])
    return (100 * Math.min(n, named.length)) / n
  }
  const worst = Math.max(...top(100).map(({ key, count }) => Math.abs(count - counts[rankOf.get(key)])))
  return { recall10: recalled(10), recall100: recalled(100), worst: (1e6 * worst) / events }
}

function tables(figures) {
  const row = (contender) => {
    const errors = figures.errors(contender)
    const told =
      errors === undefined
        ? ['-', '-', '-']
        : [errors.recall10, errors.recall100, errors.worst].map((x) => x.toFixed(0))
    return [contender.name, ...speedCells(figures, contender, loads), ...heldCells(figures, contender), ...told]
  }
  return [
    {
      title: 'Top keys: CPU ns per key, min / median',
      columns: [
        'contender',
        ...loads.map((load) => loadTitles[load]),
        ...heldColumns,
        'recall of the top 10, %',
        'of the top 100, %',
        'worst error of a count',
      ],
      rows: contenders.map(row),
      notes: [
        'Speed: 10,000 equally frequent keys, the worst case for all contenders. Recall: 1,000,000 events (bloom-filters: 20,000) over 100,000 keys by Zipf; the error is that of the 100 reported counts, in millionths of all events.',
      ],
    },
  ]
}

export const tops = { contenders, speeds: loads.map((load) => ({ load })), held: true, errors, tables }
