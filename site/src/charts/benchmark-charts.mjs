import { textOf } from '../repository.mjs'
import { barChart } from './bar-chart.mjs'

const NOT_COMPARED = /^(?:noop|Date\.now|floor|.*\bbare\b|hand-written)|that do(?:es)? nothing$|, denied$/
const compared = (name) => !NOT_COMPARED.test(name)
const OWN =
  /sluice|^`?(?:createCounters|redisCounters)|^(?:leased|sketch|memory)\b|^(?:CountMin|Estimator|HyperLogLog|RedisHyperLogLog|TDigest|SpaceSaving|HeavyKeeper|(?:Blocked|Counting)?BloomFilter)\b/

const FRAMEWORKS = ['Express 5', 'Koa 3', 'Fastify 5', 'Hono 4', 'Nest 12 on Express 5']

/** The charts of the page of the benchmarks, each with the section of its results. Each figure stands beside its error. */
const CHARTS = [
  {
    bench: 'decisions',
    title: 'CPU of a decision',
    from: 'Decisions of a process with 10,000 requests a second',
    figure: { column: 'µs', title: 'µs, slowest load' },
    error: { column: 'above the limit %, 10k keys', title: 'admitted above the limit, %' },
  },
  {
    bench: 'memory',
    title: 'Memory of a key, of a million live keys',
    from: 'Memory at 1M live keys',
    figure: { column: 'heap + external B/key', title: 'bytes' },
    error: { column: 'forgotten %', title: 'keys forgotten, %' },
  },
  {
    bench: 'memory',
    title: 'Growth of memory in an attack with five million keys',
    from: 'Attack: 5M distinct keys in one window',
    figure: { column: 'peak RSS growth MiB', title: 'MiB' },
    error: { column: 'attackers readmitted %', title: 'attackers readmitted, %' },
  },
  ...FRAMEWORKS.map((framework) => ({
    bench: 'http',
    title: `CPU that limits add to a request of ${framework}`,
    from: `${framework}: CPU per request`,
    figure: { column: 'added µs', title: 'µs' },
    error: { column: 'quartiles', title: 'quartiles of the difference, µs' },
  })),
  {
    bench: 'redis',
    title: 'Decisions a second on one Redis, 64 at a time',
    from: 'Decisions on one Redis, 64 at a time',
    rows: (name) => compared(name) && !/^ioredis|breaker|memory/.test(name),
    figure: { column: 'decisions/s', title: 'decisions a second' },
    error: { column: 'p99 µs', title: '99th percentile of their time, µs' },
    isMoreBetter: true,
  },
  {
    bench: 'counters',
    title: 'Time of an increment of a usage counter',
    from: 'Increments, 5,000 a second on 1,000 ids',
    figure: { column: 'p50 ms', title: 'ms, median' },
    error: { column: 'p99 ms', title: '99th percentile, ms' },
  },
  {
    bench: 'sketches',
    title: 'CPU of counting a key',
    from: 'Counting a key: CPU ns, min / median',
    figure: { column: '15 characters', title: 'ns, smallest / median' },
    error: { column: 'of all keys', title: 'error of a count, mean / worst, in millionths of all events' },
    until: 100,
  },
  {
    bench: 'sketches',
    title: 'CPU of counting distinct keys',
    from: 'Counting distinct keys: CPU ns per key, min / median',
    figure: { column: '15 characters', title: 'ns, smallest / median' },
    error: { column: 'error % at 1,000', title: 'error with 1,000 keys, %' },
    until: 500,
  },
  {
    bench: 'sketches',
    title: 'CPU of a value for percentiles',
    from: 'Quantiles: CPU ns per value, min / median',
    figure: { column: 'exponential', title: 'ns, smallest / median' },
    error: { column: 'exponential: rank error %', title: 'error of the rank at p50 / p99 / p999, %' },
  },
  {
    bench: 'sketches',
    title: 'CPU of a key for the top keys',
    from: 'Top keys: CPU ns per key, min / median',
    figure: { column: '15 characters', title: 'ns, smallest / median' },
    error: { column: 'worst error of a count', title: 'worst error of a count, in millionths of all events' },
    until: 400,
  },
  {
    bench: 'sketches',
    title: 'CPU of asking a list of 50,000 keys',
    from: 'Is this key among 50,000: CPU ns per call, min / median',
    figure: { column: 'has, 15 characters', title: 'ns, smallest / median' },
    error: { column: 'measured %', title: 'wrong answers, %' },
    until: 100,
  },
]

/** The text of `bench/README.md` with charts of `bench/results` before its tables. */
export function withCharts(text) {
  const [, beforeTables, tables] = /^([\s\S]*?)(^## [\s\S]*)$/m.exec(text)
  const charts = CHARTS.map((chart) => chartText(chart))
  const intro =
    'Drawn from the last run of each benchmark. A figure means little without its error, which stands beside it; exact counters have a percentile in its place. [How it is measured](#how-it-is-measured).'
  return `${beforeTables}## Charts\n\n${intro}\n\n${charts.join('\n')}\n${tables}`
}

function chartText({ bench, from, rows = compared, ...chart }) {
  const { date, machine, tables } = JSON.parse(textOf(`bench/results/${bench}.json`))
  const table = tables.find(({ title }) => title === from)
  if (table === undefined) throw new Error(`bench/results/${bench}.json: no table "${from}"`)
  const drawn = barChart({ ...chart, table, rows, isSluice: (name) => OWN.test(name) })
  return `### ${chart.title}\n\n${drawn}\n${date}, ${machine}: [all figures](#${bench}).\n`
}
