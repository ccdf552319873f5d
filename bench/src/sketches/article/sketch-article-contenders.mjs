import { CountMin, Estimator } from '@sluice/sketches'
import { openMap } from '../sketch-map.mjs'
import { articleKeys as keys, benchSeed as seed } from '../sketch-streams.mjs'

const sink = { seen: 0 }

function openIdle() {
  const add = (key) => {
    sink.seen ^= key
  }
  return { add }
}

function openArray() {
  const counts = new Uint32Array(keys)
  const add = (key) => {
    counts[key]++
  }
  return { add, estimate: (key) => counts[key], bytes: () => counts.byteLength }
}

function openCountMin(options) {
  const sketch = new CountMin({ seed, ...options })
  return {
    add: (key) => sketch.add(key),
    estimate: (key) => sketch.estimate(key),
    bytes: () => sketch.toBytes().length,
  }
}

function openEstimator(rows) {
  const sketch = new Estimator({ seed, rows, slots: 1_024 })
  return { add: (key) => sketch.incr(key), estimate: (key) => sketch.get(key), bytes: () => sketch.toBytes().length }
}

/** Single-threaded. `share`: part of the events that is timed, for contenders that would take minutes. */
export const alone = [
  { name: 'noop (the loop)', noop: true, open: openIdle },
  { name: 'Map<number, { n }>', share: 0.2, open: openMap },
  { name: 'Uint32Array, keys known before', open: openArray },
  { name: 'Estimator 3 x 1024 (as in the article)', open: () => openEstimator(3) },
  { name: 'Estimator 4 x 1024', open: () => openEstimator(4) },
  { name: 'CountMin 4 x 65536', open: () => openCountMin({ width: 65_536, depth: 4 }) },
  { name: 'CountMin 4 x 65536, shared (Atomics)', open: () => openCountMin({ width: 65_536, depth: 4, shared: true }) },
  { name: 'CountMin 4 x 1048576', open: () => openCountMin({ width: 2 ** 20, depth: 4 }) },
].map((one) => ({ ...one, task: 'alone' }))

const ways = [
  { name: 'CountMin 4 x 65536 a worker, merged', way: 'merged' },
  { name: 'CountMin 4 x 65536, shared (Atomics)', way: 'atomics' },
  { name: 'Map<number, number> a worker, merged at the end', way: 'maps', share: 0.2 },
  { name: 'one exact table, shared, behind a lock', way: 'locked', share: 0.1 },
]
/** With worker threads. */
export const together = ways.flatMap((one) =>
  [1, 2].map((threads) => ({
    ...one,
    threads,
    name: `${one.name}, ${threads} ${threads === 1 ? 'worker' : 'workers'}`,
  })),
)
/** One key, counted by two workers in parallel. */
export const hot = [
  { name: 'cells, shared, plain', way: 'plain' },
  { name: 'CountMin, shared (Atomics)', way: 'atomics' },
  { name: 'CountMin a worker, merged', way: 'merged' },
].map((one) => ({ ...one, name: `hot key: ${one.name}`, threads: 2, hot: true }))
