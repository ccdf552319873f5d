import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { CountMin, Estimator } from '@sluice/sketches'
import { loadTitles } from './sketch-clock.mjs'
import { heldCells, heldColumns, speedCells } from './sketch-figures.mjs'
import { idle } from './sketch-idle.mjs'
import { openMap } from './sketch-map.mjs'
import { benchSeed, countsOf, keyText, overcount, seedBytes, zipfRanks } from './sketch-streams.mjs'

const loads = ['warm15', 'warm40', 'fresh15', 'fresh40', 'integers']
const keys = 100_000
const seed = benchSeed

/** A minimal count-min with four rows: the same hash, and four hand-written cells. */
function openFloor(width) {
  const hash = createKeyedHash(seedBytes)
  const cells = new Int32Array(4 * width)
  const mask = width - 1
  const add = (key) => {
    if (typeof key === 'string') hash.text(key)
    else hash.integer(key)
    const { low, high } = hash
    const a = ++cells[low & mask]
    const b = ++cells[width + ((low >>> 16) & mask)]
    const c = ++cells[2 * width + (high & mask)]
    const d = ++cells[3 * width + ((high >>> 16) & mask)]
    return Math.min(a, b, c, d)
  }
  const estimate = (key) => {
    const seen = add(key)
    for (const row of [hash.low, hash.low >>> 16, hash.high, hash.high >>> 16].entries()) {
      cells[row[0] * width + (row[1] & mask)]--
    }
    return seen - 1
  }
  return { add, estimate }
}

function openCountMin(options) {
  const sketch = new CountMin({ seed, depth: 4, ...options })
  return {
    add: (key) => sketch.add(key),
    estimate: (key) => sketch.estimate(key),
    // shared memory is not part of the heap
    ...(options.shared && { bytes: () => sketch.buffer.byteLength }),
  }
}

function openEstimator(options) {
  const sketch = new Estimator({ seed, ...options })
  return { add: (key) => sketch.incr(key), estimate: (key) => sketch.get(key) }
}

async function openPeer() {
  const { CountMinSketch } = (await import('bloom-filters')).default
  const sketch = new CountMinSketch(2_048, 4)
  return { add: (key) => sketch.update(String(key)), estimate: (key) => sketch.count(String(key)) }
}

/** `floor`: the row with which a contender is compared. */
const contenders = [
  idle,
  { name: 'Map<key, { n }>', grows: true, open: openMap },
  { name: 'floor 4 x 1024', open: () => openFloor(1_024) },
  { name: 'floor 4 x 2048', open: () => openFloor(2_048) },
  { name: 'floor 4 x 65536', open: () => openFloor(65_536) },
  { name: 'Estimator 4 x 1024', floor: 'floor 4 x 1024', open: () => openEstimator({ rows: 4, slots: 1_024 }) },
  { name: 'CountMin 4 x 2048', floor: 'floor 4 x 2048', open: () => openCountMin({ width: 2_048 }) },
  { name: 'CountMin 4 x 65536', floor: 'floor 4 x 65536', open: () => openCountMin({ width: 65_536 }) },
  { name: 'CountMin 4 x 2048, conservative', open: () => openCountMin({ width: 2_048, conservative: true }) },
  { name: 'CountMin 4 x 65536, shared (Atomics)', open: () => openCountMin({ width: 65_536, shared: true }) },
  { name: 'bloom-filters CountMinSketch 2048 x 4', slow: true, open: openPeer },
]

/** Throws unless a key counted five times returns 5 and another key returns 0. */
async function prove(contender) {
  const { add, estimate } = await contender.open()
  for (let n = 0; n < 5; n++) add('one')
  if (estimate('one') !== 5 || estimate('another') !== 0) throw new Error(`${contender.name} does not count`)
}

async function errors(contender, smoke) {
  if (contender.noop) return undefined
  await prove(contender)
  const events = smoke ? 2_000 : contender.slow ? 20_000 : 1_000_000
  const ranks = zipfRanks(keys, events)
  const counts = countsOf(ranks, keys)
  const { add, estimate } = await contender.open()
  for (const rank of ranks) add(keyText(rank))
  const estimateOf = (rank) => estimate(keyText(rank))
  return { heavy: overcount(counts, estimateOf, events, events / 1_000), all: overcount(counts, estimateOf, events) }
}

function tables(figures) {
  const row = (contender) => {
    const errors = figures.errors(contender)
    const of =
      errors === undefined ? ['-', '-'] : [errors.heavy, errors.all].map(({ mean, worst }) => pair(mean, worst))
    return [contender.name, ...speedCells(figures, contender, loads), ...heldCells(figures, contender), ...of]
  }
  return [
    {
      title: 'Counting a key: CPU ns, min / median',
      columns: [
        'contender',
        ...loads.map((load) => loadTitles[load]),
        ...heldColumns,
        'error of heavy keys',
        'of all keys',
      ],
      rows: contenders.map(row),
      notes: [
        '10,000 keys. Fresh: each is a new string that was never hashed, made as an HTTP parser makes it. The noop row is subtracted from every other row. Floor: the same keyed hash and four cells, written out by hand.',
        'Errors: mean / worst, in millionths of all events, of 1,000,000 events (bloom-filters: 20,000) over 100,000 keys by Zipf; heavy keys have a thousandth of the events or more. Bytes: after 50,000 keys.',
      ],
    },
  ]
}

function pair(mean, worst) {
  return `${mean.toFixed(1)} / ${worst.toFixed(0)}`
}

export const counters = { contenders, speeds: loads.map((load) => ({ load })), held: true, errors, tables }
