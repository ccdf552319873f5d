import { HyperLogLog, RedisHyperLogLog } from '@sluice/sketches'
import { loadTitles } from './sketch-clock.mjs'
import { heldCells, heldColumns, speedCells } from './sketch-figures.mjs'
import { idle } from './sketch-idle.mjs'
import { benchSeed, keyText } from './sketch-streams.mjs'

const loads = ['warm15', 'warm40', 'fresh15', 'integers']
const sizes = [1_000, 100_000, 1_000_000]
const sets = 3

async function openHyperLogLogLite() {
  const HyperLogLogLite = (await import('hyperloglog-lite')).default
  const sketch = HyperLogLogLite(14)
  return { add: (key) => sketch.add(HyperLogLogLite.hash(String(key))), count: () => sketch.count() }
}

async function openBloomFilters() {
  const { HyperLogLog: Peer } = (await import('bloom-filters')).default
  const sketch = new Peer(16_384)
  return { add: (key) => sketch.update(String(key)), count: () => sketch.count() }
}

function openSet() {
  const set = new Set()
  return { add: (key) => set.add(key), count: () => set.size }
}

function opened(sketch) {
  return { add: (key) => sketch.add(key), count: () => sketch.count() }
}

/** `most`: largest number of keys that can be counted in reasonable time. */
const contenders = [
  idle,
  { name: 'Set', grows: true, open: openSet },
  { name: 'HyperLogLog', open: () => opened(new HyperLogLog({ seed: benchSeed })) },
  { name: 'RedisHyperLogLog', open: () => opened(new RedisHyperLogLog()) },
  { name: 'hyperloglog-lite 14', most: 100_000, open: openHyperLogLogLite },
  { name: 'bloom-filters HyperLogLog 16384', slow: true, most: 1_000, open: openBloomFilters },
]

/** Mean error in percent, over sets of new keys. */
async function errors(contender, smoke) {
  if (contender.noop) return undefined
  const figures = []
  for (const size of smoke ? [100] : sizes) {
    if (size > (contender.most ?? Infinity)) continue
    figures.push(await meanError(contender, size, smoke || contender.most !== undefined ? 1 : sets))
  }
  return figures
}

async function meanError(contender, size, times) {
  let sum = 0
  for (let set = 0; set < times; set++) {
    const { add, count } = await contender.open()
    for (let n = 0; n < size; n++) add(keyText(set * size + n))
    sum += Math.abs(count() - size) / size
  }
  return (100 * sum) / times
}

function tables(figures) {
  const row = (contender) => {
    const errors = figures.errors(contender) ?? []
    const told = sizes.map((_, at) => (errors[at] === undefined ? '-' : errors[at].toFixed(2)))
    return [contender.name, ...speedCells(figures, contender, loads), ...heldCells(figures, contender), ...told]
  }
  return [
    {
      title: 'Counting distinct keys: CPU ns per key, min / median',
      columns: [
        'contender',
        ...loads.map((load) => loadTitles[load]),
        ...heldColumns,
        ...sizes.map((size) => `error % at ${size.toLocaleString('en-US')}`),
      ],
      rows: contenders.map(row),
      notes: [
        'Errors: the mean of three sets of keys (peers: of one). The standard error of 2^14 registers is 0.81 %. RedisHyperLogLog hashes like Redis, with a public seed. Bytes: after 50,000 keys.',
      ],
    },
  ]
}

export const uniques = { contenders, speeds: loads.map((load) => ({ load })), held: true, errors, tables }
