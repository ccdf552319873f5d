import { BlockedBloomFilter, BloomFilter, CountingBloomFilter } from '@sluice/sketches'
import { heldCells, heldColumns, speedCells } from './sketch-figures.mjs'
import { idle } from './sketch-idle.mjs'
import { benchSeed, keyText } from './sketch-streams.mjs'

const loads = ['warm15', 'fresh40']
const expected = 50_000
const rate = 0.01

function openOurs(Filter) {
  const filter = new Filter({ capacity: expected, errorRate: rate, seed: benchSeed })
  return { add: (key) => filter.add(key), has: (key) => filter.has(key), stated: () => 100 * filter.statedRate }
}

function openSet() {
  const set = new Set()
  return { add: (key) => set.add(key), has: (key) => set.has(key), stated: () => 0 }
}

async function openPeer() {
  const { BloomFilter: Peer } = (await import('bloom-filters')).default
  const filter = Peer.create(expected, rate)
  return { add: (key) => filter.add(key), has: (key) => filter.has(key), stated: () => 100 * rate }
}

const contenders = [
  idle,
  { name: 'Set', grows: true, open: openSet },
  { name: 'BloomFilter', open: () => openOurs(BloomFilter) },
  { name: 'BlockedBloomFilter', open: () => openOurs(BlockedBloomFilter) },
  { name: 'CountingBloomFilter', open: () => openOurs(CountingBloomFilter) },
  { name: 'bloom-filters BloomFilter', slow: true, open: openPeer },
]

/** False-positive rate in percent once the filter contains as many keys as it is designed for. */
async function errors(contender, smoke) {
  if (contender.noop) return undefined
  const { add, has, stated } = await contender.open()
  const added = smoke ? 500 : expected
  const asked = smoke ? 500 : contender.slow ? 20_000 : 500_000
  for (let n = 0; n < added; n++) add(keyText(n))
  for (let n = 0; n < added; n += 50) if (!has(keyText(n))) throw new Error(`${contender.name} forgot a key`)
  let claimed = 0
  for (let n = 0; n < asked; n++) if (has(keyText(1_000_000 + n))) claimed++
  return { stated: stated(), measured: (100 * claimed) / asked }
}

function tables(figures) {
  const row = (contender) => {
    const errors = figures.errors(contender)
    const told = errors === undefined ? ['-', '-'] : [errors.stated.toFixed(2), errors.measured.toFixed(2)]
    const asked = contender.noop ? ['-', '-'] : speedCells(figures, contender, loads, 'has')
    return [
      contender.name,
      ...speedCells(figures, contender, loads),
      ...asked,
      ...heldCells(figures, contender),
      ...told,
    ]
  }
  return [
    {
      title: 'Is this key among 50,000: CPU ns per call, min / median',
      columns: [
        'contender',
        'add, 15 characters',
        'add, 40 fresh',
        'has, 15 characters',
        'has, 40 fresh',
        ...heldColumns,
        'false positives stated %',
        'measured %',
      ],
      rows: contenders.map(row),
      notes: [
        'Made for 50,000 keys and 1 %. Speed: 10,000 keys that are in the filter; "has" is faster for other keys. The noop row is subtracted from every other row.',
      ],
    },
  ]
}

const speeds = [...loads.map((load) => ({ load })), ...loads.map((load) => ({ load, method: 'has' }))]

export const blooms = { contenders, speeds, held: true, errors, tables }
