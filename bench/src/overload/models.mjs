import { adaptive } from '@sluice/overload'
import { BIMODAL, DRIFTING, playModel, quantileOf, seededRandom } from '@sluice/testkit'
import { boundRow } from '../run/target.mjs'

const models = [
  {
    name: 'drift',
    title: 'a service time that doubles in 30 minutes',
    model: DRIFTING,
    followsOptimum: true,
  },
  { name: 'bimodal', title: '90 % of the requests need 5 ms and 10 % 500 ms', model: BIMODAL },
]
const caps = [11, 12, 13, 14, 16, 24, 48]
/** The optimum is the smallest cap that completes this part of what the best one completes. */
const nearlyBest = 0.99
const algorithms = ['throughput', 'gradient', 'vegas']
const smokeMs = 2_000

/** Scenarios on virtual time, those of test/overload. */
export async function modelTables({ smoke, progress }) {
  const tables = []
  const targets = []
  for (const { name, title, model, followsOptimum } of models) {
    progress(`overload: ${name}`)
    const played = smoke ? { ...model, durationMs: smokeMs } : model
    const limits = [
      ...caps.map((cap) => [`fixed cap of ${cap}`, cap]),
      ...algorithms.map((algorithm) => [algorithm, adaptive({ algorithm, min: 2, max: 150 })]),
    ]
    const results = []
    for (const [row, limit] of limits) results.push([row, await playModel(seededRandom(1), played, limit)])
    const completed = results.map(([, run]) => run.sources[0].completed)
    const best = Math.max(...completed.slice(0, caps.length))
    tables.push(tableOf(title, played, results, best))
    const [learned] = completed.slice(caps.length)
    targets.push(boundRow(`${name}: completed % of the best fixed cap`, (100 * learned) / best, { atLeast: 90 }))
    if (!followsOptimum) continue
    const optimum = caps[completed.findIndex((one) => one >= nearlyBest * best)]
    const median = quantileOf(results[caps.length][1].limits, 0.5)
    const away = 100 * Math.abs(median / optimum - 1)
    targets.push(boundRow(`${name}: median limit, % from the optimum (${optimum})`, away, { atMost: 40 }))
  }
  return { tables, targets }
}

function tableOf(title, { perSecond, durationMs }, results, best) {
  return {
    title: `On virtual time: ${title}`,
    columns: ['limit', 'completed per second', '% of the best fixed cap', 'p99 ms', 'limit: 5th percentile', '95th'],
    rows: results.map(
      ([
        name,
        {
          sources: [one],
          limits,
        },
      ]) => [
        name,
        (one.completed * 1_000) / durationMs,
        (100 * one.completed) / best,
        quantileOf(one.latencies, 0.99),
        quantileOf(limits, 0.05),
        quantileOf(limits, 0.95),
      ],
    ),
    notes: [`12 workers, ${perSecond} requests per second for ${durationMs / 1_000} s, seed 1.`],
  }
}
