// What disturbs a limit that is learned: requests that stay, a process that stops, work that is slow until it is known.
import { peers, published, sluice } from '../contender-names.mjs'
import { settledAfterMs, successShare, warmupOf } from '../judge.mjs'
import { totalsOf } from '../timeline.mjs'
import { sourceOf } from './sources.mjs'

const workers = 12
const settings = { timeoutMs: 300, maxWaitMs: 500 }
const judgedFrom = ({ scenario }) => warmupOf(scenario.durationMs)
const answered = (source) => (run) => 100 * successShare(run.record, source, { fromMs: judgedFrom(run) })
const p99 = (source) => (run) => totalsOf(run.record, { fromMs: judgedFrom(run), source }).p99

/** Two event streams a second that stay for 20 s, beside short requests. */
export function streams(ms) {
  const stayMs = ms(20)
  const [short, stream] = [0, 1]
  return {
    name: 'streams',
    title: 'Streams: 150 requests per second with 50 ms of work, beside 40 event streams that stay open',
    mostLanes: 9,
    contenders: ['no limiter', 'fixed cap', ...published, ...sluice],
    durationMs: ms(60),
    service: { workers, serviceMs: [[0, 50]] },
    // a team that knows its streams adds their places
    placesOfStreams: 40,
    sources: [sourceOf('short', 150), sourceOf('streams', 2, { path: '/stream', stayMs })],
    settings,
    verdict: {
      columns: [
        ['short: answered %', answered(short)],
        ['short: p99 ms', p99(short)],
        ['streams: answered %', answered(stream)],
      ],
      targets: [
        ['short requests: answered %', answered(short), { atLeast: 99 }],
        ['short requests: p99 in service times', (run) => p99(short)(run) / 50, { atMost: 3 }],
        ['streams: answered %', answered(stream), { atLeast: 99 }],
      ],
    },
  }
}

/** The event loop stops for 300 ms every 5 s, as in a long garbage collection. */
export function pauses(ms) {
  return {
    name: 'pauses',
    title: 'Pauses: the process stops for 300 ms every 5 s, 160 requests per second of a possible 240',
    mostLanes: 9,
    contenders: ['no limiter', 'fixed cap', ...peers, ...published, ...sluice],
    durationMs: ms(60),
    service: { workers, serviceMs: [[0, 50]], pauseMs: 300, everyMs: 5_000 },
    sources: [sourceOf('all', 160)],
    settings,
    verdict: {
      columns: [
        ['answered %', answered(0)],
        ['p99 ms', p99(0)],
      ],
      targets: [
        // a pause of 300 ms is 6 % of the time
        ['answered %', answered(0), { atLeast: 94 }],
        ['p99 ms', p99(0), { atMost: 600 }],
      ],
    },
  }
}

/** A cache that is emptied after 20 s: each of 300 keys needs 400 ms once, and 20 ms afterwards. */
export function coldCache(ms) {
  const [before, after] = [ms(20), ms(40)]
  const [hitMs, missMs] = [20, 400]
  const stage = { fromMs: before, toMs: before + after, perSecond: (workers * 1_000) / hitMs }
  const recoveredMs = ({ record }) => settledAfterMs(record, stage, { windowMs: 1_000, mostMs: 1_000, bucketMs: 100 })
  const goodput = ({ record }) => {
    const { good, sent } = totalsOf(record, stage)
    return (100 * good) / Math.max(1, sent)
  }
  return {
    name: 'cold cache',
    title: 'Cold cache: 150 requests per second for 300 keys with 20 ms of work; each key needs 400 ms once after 20 s',
    mostLanes: 9,
    contenders: ['no limiter', 'fixed cap', ...published, ...sluice],
    durationMs: before + after,
    service: { workers, serviceMs: [[0, hitMs]], missMs, keys: 300, emptiedAtMs: before },
    sources: [sourceOf('all', 150)],
    settings,
    verdict: {
      columns: [
        ['goodput % after it', goodput],
        ['recovered after ms', recoveredMs],
        ['p99 ms after it', ({ record }) => totalsOf(record, stage).p99],
      ],
      targets: [
        // 300 keys of 400 ms are 10 s of work for 12 workers
        ['recovered after ms', recoveredMs, { atMost: 20_000 }],
      ],
    },
  }
}
