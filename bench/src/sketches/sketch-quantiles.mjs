import { TDigest } from '@sluice/sketches'
import { loadTitles } from './sketch-clock.mjs'
import { heldCells, heldColumns, speedCells } from './sketch-figures.mjs'
import { idle } from './sketch-idle.mjs'
import { valuesOf } from './sketch-streams.mjs'

const loads = ['exponential', 'bimodal']
const shares = [0.5, 0.99, 0.999]

function openOurs(scale) {
  const digest = new TDigest({ scale })
  return { add: (value) => digest.add(value), quantile: (q) => digest.quantile(q) }
}

async function openTdigest() {
  const { TDigest: Peer } = (await import('tdigest')).default
  const digest = new Peer()
  return { add: (value) => digest.push(value), quantile: (q) => digest.percentile(q) }
}

async function openDDSketch() {
  const { DDSketch } = (await import('@datadog/sketches-js')).default
  const sketch = new DDSketch({ relativeAccuracy: 0.01 })
  return { add: (value) => sketch.accept(value), quantile: (q) => sketch.getValueAtQuantile(q) }
}

const contenders = [
  idle,
  { name: 'TDigest k2', open: () => openOurs('k2') },
  { name: 'TDigest k1', open: () => openOurs('k1') },
  { name: 'tdigest', open: openTdigest },
  { name: 'DDSketch, 1 %', open: openDDSketch },
]

/** Errors of p50, p99 and p999 for each stream, in percent of the ranks and of the value. */
async function errors(contender, smoke) {
  if (contender.noop) return undefined
  const figures = {}
  for (const load of loads) {
    const values = valuesOf(load, smoke ? 2_000 : 300_000, 11)
    const { add, quantile } = await contender.open()
    for (const value of values) add(value)
    values.sort()
    figures[load] = shares.map((q) => errorAt(values, quantile(q), q))
  }
  return figures
}

function errorAt(sorted, answer, q) {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < answer) low = middle + 1
    else high = middle
  }
  const truth = sorted[Math.floor(q * sorted.length)]
  return {
    rank: (100 * Math.abs(low - q * sorted.length)) / sorted.length,
    value: (100 * Math.abs(answer - truth)) / truth,
  }
}

function tables(figures) {
  const row = (contender) => {
    const errors = figures.errors(contender)
    const told = loads.flatMap((load) => [
      errors === undefined ? '-' : errors[load].map(({ rank }) => rank.toFixed(3)).join(' / '),
      errors === undefined ? '-' : errors[load].map(({ value }) => value.toFixed(2)).join(' / '),
    ])
    return [contender.name, ...speedCells(figures, contender, loads), ...heldCells(figures, contender), ...told]
  }
  return [
    {
      title: 'Quantiles: CPU ns per value, min / median',
      columns: [
        'contender',
        ...loads.map((load) => loadTitles[load]),
        ...heldColumns,
        ...loads.flatMap((load) => [`${load}: rank error %`, 'value error %']),
      ],
      rows: contenders.map(row),
      notes: [
        'Errors at p50 / p99 / p999 of 300,000 values. A t-digest of compression 100 promises ranks, a DDSketch of 1 % values. The noop row is subtracted from every other row. The time and garbage of a t-digest include sorting and merging every 500 values. Bimodal: nine values of about 5 for one of about 500.',
      ],
    },
  ]
}

export const quantiles = {
  contenders,
  speeds: loads.map((load) => ({ load })),
  held: true,
  values: true,
  errors,
  tables,
}
