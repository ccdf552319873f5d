import { startRedis } from '../../redis/redis-server.mjs'
import { warmupOf } from '../judge.mjs'
import { totalsOf } from '../timeline.mjs'
import { sourceOf } from './sources.mjs'

const cell = new URL('../server/fleet-cell.mjs', import.meta.url)
const [capacity, workMs, processes] = [40, 200, 8]
const shared = 'an adaptive cap for the fleet'
const perSecond = (capacity * 1_000) / workMs
/** Nine tenths of what one process with a cap of the capacity completes without a queue, by Erlang's loss formula. */
const leastGoodput = 0.9 * 96

const withQueue = (name) => [name, `${name}, queue`]

/** Eight processes with one database; two of them cannot reach Redis in the middle of the run. */
export function fleet(ms) {
  const [before, during, after] = [ms(30), ms(30), ms(20)]
  const settings = { capacity, workMs, processes, cut: { fromMs: before, toMs: before + during, processes: 2 } }
  const windows = [
    ['before', { toMs: before }],
    ['while two are cut off', { fromMs: before, toMs: before + during }],
    ['after', { fromMs: before + during, toMs: before + during + after }],
  ]
  const goodput = (window) => (run) => {
    const { fromMs, toMs } = { fromMs: warmupOf(run.scenario.durationMs), ...window }
    const { good, sent } = totalsOf(run.record, { fromMs, toMs })
    return (100 * good) / Math.max(1, Math.min(sent, (perSecond * (toMs - fromMs)) / 1_000))
  }
  return {
    name: 'fleet',
    title: `Fleet: ${processes} processes, a database for ${capacity} queries of ${workMs} ms at a time, 300 requests per second`,
    mostLanes: 1,
    contenders: ['no limiter', ...['a fixed cap of 5 each', 'an adaptive cap each', shared].flatMap(withQueue)],
    judged: withQueue(shared),
    cell,
    durationMs: before + during + after,
    sources: [sourceOf('all', 300)],
    settings,
    open: async () => {
      const redis = await startRedis()
      return {
        settings: { ...settings, redisPort: redis.port },
        notes: `The possible is ${perSecond} per second. Queries that the database cannot work on wait for it. A queue has 10 places in each process, for 500 ms.`,
        close: redis.close,
      }
    },
    verdict: {
      columns: [
        ...windows.map(([name, window]) => [`${name}: goodput % of the possible`, goodput(window)]),
        ['p99 ms', ({ record }) => totalsOf(record).p99],
        ['most queries in flight', ({ most }) => most],
      ],
      targets: [
        ...windows.map(([name, window]) => [
          `${name}: goodput % of the possible`,
          goodput(window),
          { atLeast: leastGoodput },
        ]),
        ['most queries in flight', ({ most }) => most, { atMost: capacity }],
      ],
    },
  }
}
