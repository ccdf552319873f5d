// The scenario of the article on pingora-limits: a million equally frequent keys in 100 million events, counted in
// one thread and in cooperating workers.
import { median } from '../../run/median.mjs'
import { drawKeys, articleKeys as keys } from '../sketch-streams.mjs'
import { alone, hot, together } from './sketch-article-contenders.mjs'
import { curve, curveTable } from './sketch-curve.mjs'
import { countTogether } from './sketch-threads.mjs'

const slices = 10

const contenders = [
  ...alone,
  ...[...together, ...hot].map((one) => ({ ...one, task: 'together' })),
  { name: 'curve', task: 'curve' },
]

function heldBytes() {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function runAlone({ contender, smoke }) {
  const before = heldBytes()
  const { add, estimate, bytes } = contender.open()
  const { share = 1 } = contender
  const perSlice = smoke ? 1_000 : 10_000_000 * share
  let state = 1
  const times = Array.from({ length: slices }, () => {
    const start = process.cpuUsage()
    state = drawKeys(add, perSlice, state)
    const { user, system } = process.cpuUsage(start)
    return (1_000 * (user + system)) / perSlice
  })
  const held = bytes?.() ?? heldBytes() - before
  const figures = { ns: [Math.min(...times), median(times)], held }
  return estimate === undefined
    ? figures
    : { ...figures, ...errorsOf(estimate, [{ state: 1, events: slices * perSlice }]) }
}

/** Mean and worst error, in counts. `parts`: the generated events. */
function errorsOf(estimate, parts) {
  const truth = new Uint32Array(keys)
  for (const { state, events } of parts) drawKeys((key) => truth[key]++, events, state)
  let [sum, worst, count] = [0, 0, 0]
  for (let key = 0; key < keys; key++) {
    if (truth[key] === 0) continue
    const error = Math.abs(estimate(key) - truth[key])
    sum += error
    worst = Math.max(worst, error)
    count++
  }
  return { mean: sum / count, worst }
}

async function runTogether({ contender, smoke }) {
  const { way, threads, share = 1 } = contender
  const events = smoke ? 2_000 : contender.hot ? 4_000_000 : 100_000_000 * share
  const parts = Array.from({ length: threads }, (_, n) => ({ state: 1 + n, events: events / threads }))
  const { estimate, wallNs, cpuNs, held } = await countTogether(way, parts, contender.hot)
  const figures = { ns: [wallNs / events, cpuNs / events], held }
  if (contender.hot) return { ...figures, lost: (100 * (events - estimate(0))) / events }
  return { ...figures, ...errorsOf(estimate, parts) }
}

function coresBusy({ ns: [wall, cpu] }) {
  return (cpu / wall).toFixed(1)
}

function tables(figures) {
  const of = (name) => figures.result(name)
  const bytes = ({ held }) => Math.max(0, Math.round(held)).toLocaleString('en-US')
  const row = ({ name }) => {
    const { ns, mean, worst, ...rest } = of(name)
    const errors = mean === undefined ? ['-', '-'] : [mean.toFixed(1), worst.toFixed(0)]
    return [name, ns[0].toFixed(1), ns[1].toFixed(1), bytes(rest), ...errors]
  }
  const errorColumns = ['bytes held', 'mean error of a count', 'worst']
  return [
    {
      title: 'A million keys, 100 million events, in one thread',
      columns: ['contender', 'CPU ns, min', 'median', ...errorColumns],
      rows: alone.map(row),
      notes: [
        'Uniformly distributed integers, so that each key occurs about 100 times (Map: 20 million events). The noop row is included in all the others. On a stream without heavy keys no sketch smaller than the keys themselves is useful, however fast: see the curve.',
      ],
    },
    {
      title: 'The same by worker threads that count together',
      columns: ['contender', 'wall ns an event', 'CPU ns an event', 'cores busy', ...errorColumns],
      rows: together.map((one) => row(one).toSpliced(3, 0, coresBusy(of(one.name)))),
      notes: [
        'Time from when all workers are ready until the counts are available in one place. Merged: each worker hands over its sketch, and starts a new one, every 4,194,304 events. The lock (Atomics.wait) protects an open-addressed table, because a Map cannot be shared. It is timed over 10 million events, and maps over 20 million. Bytes: without those of the threads themselves. Cores busy: CPU by wall time; where two workers kept only one busy, the machine was, and the row says nothing of two threads.',
      ],
    },
    {
      title: 'One hot key, by two workers at once',
      columns: ['contender', 'wall ns an event', 'cores busy', 'counts lost %'],
      rows: hot.map(({ name }) => [name, of(name).ns[0].toFixed(1), coresBusy(of(name)), of(name).lost.toFixed(2)]),
      notes: [
        'Plain: four cells in shared memory, incremented without Atomics, as a control. If it lost nothing, the workers did not overlap, and the results of the others prove nothing.',
      ],
    },
    curveTable(of('curve')),
  ]
}

export const article = {
  contenders,
  tasks: true,
  alone: runAlone,
  together: runTogether,
  curve,
  /** Counts lost with Atomics and in the control. */
  lost: (figures) => ({
    atomics: figures.result('hot key: CountMin, shared (Atomics)').lost,
    plain: figures.result('hot key: cells, shared, plain').lost,
  }),
  tables,
}
