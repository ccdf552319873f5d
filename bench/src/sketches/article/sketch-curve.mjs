import { CountMin } from '@sluice/sketches'
import { benchSeed, countsOf, uniformRanks, zipfRanks } from '../sketch-streams.mjs'

const sizes = [
  { depth: 3, width: 1_024 },
  { depth: 4, width: 1_024 },
  { depth: 4, width: 4_096 },
  { depth: 4, width: 16_384 },
  { depth: 4, width: 65_536 },
  { depth: 4, width: 2 ** 18 },
  { depth: 4, width: 2 ** 20 },
]
const off = 0.1

/** For each size: overestimation of keys in a uniform stream, and the share above which Zipf keys are accurate. */
export async function curve({ smoke }) {
  const events = smoke ? 5_000 : 10_000_000
  const keys = smoke ? 10_000 : 1_000_000
  const streams = [uniformRanks, zipfRanks].map((draw) => {
    const ranks = draw(keys, events)
    return { ranks, counts: countsOf(ranks, keys) }
  })
  return sizes.map((size) => {
    const [uniform, zipf] = streams.map(({ ranks, counts }) => {
      const sketch = new CountMin({ seed: benchSeed, ...size })
      for (const rank of ranks) sketch.add(rank)
      return { counts, estimateOf: (rank) => sketch.estimate(rank), bytes: sketch.toBytes().length }
    })
    return { ...size, bytes: uniform.bytes, times: timesTruth(uniform), ...usefulness(zipf, events) }
  })
}

function timesTruth({ counts, estimateOf }) {
  let [estimated, counted] = [0, 0]
  for (const [rank, count] of counts.entries()) {
    if (count === 0) continue
    estimated += estimateOf(rank)
    counted += count
  }
  return estimated / counted
}

/** `from`: smallest share above which each key is off by at most 10 %. `mean`, `worst`: for keys above 0.01 %. */
function usefulness({ counts, estimateOf }, events) {
  const seen = Array.from(counts, (count, rank) => ({ rank, count })).filter(({ count }) => count > 0)
  seen.sort((a, b) => b.count - a.count)
  const errors = seen.map(({ rank, count }) => (estimateOf(rank) - count) / count)
  const firstOff = errors.findIndex((error) => error > off)
  const from = firstOff < 0 ? seen.at(-1).count : firstOff === 0 ? events : seen[firstOff - 1].count
  const heavy = errors.filter((_, at) => seen[at].count >= events / 10_000)
  const mean = heavy.reduce((sum, error) => sum + error, 0) / heavy.length
  return { from: (100 * from) / events, mean: 100 * mean, worst: 100 * Math.max(...heavy) }
}

export function curveTable(points) {
  return {
    title: 'Error against bytes: a count-min, a million keys, 10 million events',
    columns: [
      'size',
      'bytes',
      'uniform: estimate × truth',
      'Zipf, keys above 0.01 %: mean error %',
      'worst %',
      'all within 10 % from a share of %',
    ],
    rows: points.map(({ depth, width, bytes, times, mean, worst, from }) => [
      `${depth} x ${width}`,
      bytes.toLocaleString('en-US'),
      times.toFixed(times < 10 ? 2 : 0),
      mean.toFixed(2),
      worst.toFixed(2),
      from.toFixed(4),
    ]),
    notes: [
      'Uniform: sum of the estimates of all keys, compared with the true count. Zipf, s = 1: the busiest key has about 5 % of the events. The last column shows the useful range of a size: every key with at least this share of all events is overestimated by at most a tenth.',
    ],
  }
}
