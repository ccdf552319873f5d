// What each scenario shows and requires. A verdict has `columns` of `[title, (run) => number]` and `targets` of
// `[what, (run) => number, bound]`, which apply to Sluice; a bound may depend on the contender. A run is
// `{ record, samples, scenario }`.
import {
  goodputShare,
  largestLimit,
  p99ServiceTimes,
  ratio,
  settledAfterMs,
  stagesOf,
  successShare,
  warmupOf,
} from '../judge.mjs'
import { totalsOf } from '../timeline.mjs'

const stageNames = ['first', 'second', 'third']
const recoveryMs = 5_000
const bucketMs = 100

const stage = (run, index) => stagesOf(run.scenario)[index]
const goodputOf = (index) => (run) => 100 * goodputShare(run.record, stage(run, index))
const latencyOf = (index) => (run) => p99ServiceTimes(run.record, stage(run, index))
const judgedFrom = ({ scenario }) => warmupOf(scenario.durationMs)
const overall = (run, source) => totalsOf(run.record, { fromMs: judgedFrom(run), source })
const perSecond = (count, run) => (count * 1_000) / (run.scenario.durationMs - judgedFrom(run))
const goodPerSecond = (run) => perSecond(overall(run).good, run)

function recoveredMs(run) {
  const last = stage(run, 2)
  return settledAfterMs(run.record, last, { windowMs: 1_000, mostMs: 3 * last.serviceMs, bucketMs })
}

export const byStage = {
  columns: [
    ...stageNames.map((name, index) => [`${name} stage: goodput % of the possible`, goodputOf(index)]),
    ...stageNames.map((name, index) => [`${name} stage: p99 in service times`, latencyOf(index)]),
    ['recovered after ms', recoveredMs],
  ],
  targets: [
    ...stageNames.map((name, index) => [`${name} stage: goodput % of the possible`, goodputOf(index), { atLeast: 90 }]),
    ...stageNames.map((name, index) => [`${name} stage: p99 in service times`, latencyOf(index), { atMost: 3 }]),
    ['recovered after ms', recoveredMs, { atMost: recoveryMs }],
  ],
}

const goodOf = (source) => (run) => perSecond(overall(run, source).good, run)
const fromFair = (source) => (run) => {
  const { fair, sources } = run.scenario
  const asksForMore = fair[source] < sources[source].rate[0][1]
  // a client that asks for less than its share can only get what it asked for
  const expected = asksForMore ? fair[source] : perSecond(overall(run, source).sent, run)
  return 100 * Math.abs(ratio(goodOf(source)(run), expected) - 1)
}
// without a queue, a request is refused if all places are held by chance (Erlang)
const queued = (bound, otherwise) => (name) => (name.endsWith('queue') ? bound : otherwise)
const isFair = queued({ atMost: 10 }, { atMost: 20 })
const isAdmitted = queued({ atLeast: 99 }, { atLeast: 80 })
const admittedOf = (source) => (run) => 100 * successShare(run.record, source, { fromMs: judgedFrom(run) })

export const noisy = {
  columns: [
    ...[150, 50, 10].map((rate, source) => [`${rate} per second: answered per second`, goodOf(source)]),
    ...[50, 10].map((rate, index) => [`${rate} per second: admitted %`, admittedOf(index + 1)]),
    ['p99 ms', (run) => overall(run).p99],
  ],
  targets: [
    ...[150, 50, 10].map((rate, source) => [
      `user with ${rate} per second: % from the fair share`,
      fromFair(source),
      isFair,
    ]),
    ['user with 50 per second: admitted %', admittedOf(1), isAdmitted],
    ['user with 10 per second: admitted %', admittedOf(2), isAdmitted],
  ],
}

const timesOptimum = ({ samples, scenario }) =>
  largestLimit(samples, Math.min(10_000, scenario.durationMs / 4)) / scenario.optimum
const lastP99 = ({ record, scenario }) =>
  totalsOf(record, { fromMs: scenario.durationMs * 0.9 }).p99 / scenario.service.serviceMs[0][1]

export const runaway = {
  columns: [
    ['answered per second', goodPerSecond],
    ['p99 ms', (run) => overall(run).p99],
    ['p99 of the last tenth, in service times', lastP99],
    ['largest limit, × optimum', timesOptimum],
  ],
  targets: [
    ['largest limit, × optimum', timesOptimum, { atMost: 2 }],
    ['p99 of the last tenth, in service times', lastP99, { atMost: 3 }],
  ],
}

export const comparison = {
  columns: [
    ['answered per second', goodPerSecond],
    ...stageNames.map((name, index) => [`${name} stage: goodput % of the possible`, goodputOf(index)]),
    ['p99 ms', (run) => overall(run).p99],
  ],
  // against the best of the published algorithms in the same run, whose limits and latencies are twice as large
  needsRivals: true,
  targets: [
    [
      'answered, × the best of the published algorithms',
      (run, others) => ratio(goodPerSecond(run), Math.max(0, ...others.map(goodPerSecond))),
      { atLeast: 0.95 },
    ],
  ],
}

const spikeSettled = (run) => {
  const during = stage(run, 1)
  const mostMs = 20 * during.serviceMs
  return settledAfterMs(run.record, during, { windowMs: 500, mostMs, bucketMs: 20 }) / during.serviceMs
}
const critical = admittedOf(0)
const peak = goodputOf(1)

/** `leastCritical`: percentage of the critical requests that must be answered. */
export const spike = (leastCritical) => ({
  columns: [
    ['goodput % of the peak during the spike', peak],
    ['goodput % of the possible after it', goodputOf(2)],
    ['critical: answered %', critical],
    ['p99 ms during the spike', (run) => totalsOf(run.record, stage(run, 1)).p99],
    ['settled after service times', spikeSettled],
  ],
  targets: [
    ['goodput % of the peak during the spike', peak, { atLeast: 90 }],
    ['critical: answered %', critical, { atLeast: leastCritical }],
    // a second: clients do not notice less
    ['settled after service times', spikeSettled, { atMost: 200 }],
  ],
})
