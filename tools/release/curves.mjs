// Runs the simulations of a global limiter and draws their results: npm run curves. Takes some minutes. If
// SLUICE_CURVES is a file with result rows, it draws these instead.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { init } from 'echarts'

const root = join(import.meta.dirname, '../..')
const images = join(root, 'docs/images')
const SIMULATIONS = ['test/sync/over-admission.long.ts', 'test/sync/many-keys.long.ts']
const SIZE = { width: 720, height: 420 }
// colours by Okabe and Ito, distinguishable for the colour-blind; each line also has its own marker
const COLORS = ['#0072b2', '#009e73', '#e69f00', '#d55e00']
const MARKS = ['circle', 'rect', 'triangle', 'diamond']

const rows = measured()
mkdirSync(images, { recursive: true })
draw('global-limiter-processes.svg', {
  title: 'What passes in the worst minute, as a multiple of the limit',
  x: 'processes',
  y: { name: 'limits', type: 'value', min: 1, max: 1.4 },
  lines: [1.2, 2, 10, 100].map((demand) => ({
    name: `demand ${demand} ×`,
    points: rows.filter((row) => row.shape === 'even' && row.demand === demand).map(({ nodes, most }) => [nodes, most]),
  })),
})
draw('global-limiter-keys.svg', {
  title: 'Keys that one of 20 processes reports a second, of 50,000 takes a second',
  x: 'keys, each as busy as the others',
  y: { name: 'keys a second', type: 'log' },
  lines: [6_000, 100].map((limit) => ({
    name: `limit ${limit.toLocaleString('en')} a minute`,
    // a logarithmic axis has no 0
    points: rows
      .filter((row) => row.kind === 'keys' && row.limit === limit)
      .map(({ keys, reported }) => [keys, Math.max(1, reported)]),
  })),
})

/** The rows of all simulations. */
function measured() {
  const known = process.env.SLUICE_CURVES
  if (known) return parsed(known)
  const folder = mkdtempSync(join(tmpdir(), 'curves-'))
  const file = join(folder, 'rows.jsonl')
  const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js')
  const args = [jest, ...SIMULATIONS, '--testMatch', '<rootDir>/test/**/*.long.ts', '--runInBand']
  const env = { ...process.env, SLUICE_CURVES: file }
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  const made = parsed(file)
  rmSync(folder, { recursive: true })
  return made
}

function parsed(file) {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

function draw(name, { title, x, y, lines }) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE })
  const axis = { nameLocation: 'middle', axisLabel: { formatter: shown } }
  const least = Math.min(...lines.flatMap(({ points }) => points.map(([at]) => at)))
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    color: COLORS,
    title: { text: title, left: 'center', textStyle: { fontSize: 15 } },
    legend: { bottom: 5, itemGap: 28 },
    grid: { left: 70, right: 45, top: 50, bottom: 85 },
    xAxis: { ...axis, type: 'log', name: x, nameGap: 28, min: least },
    yAxis: { ...axis, ...y, nameGap: 48 },
    series: lines.map(({ name: line, points }, index) => ({
      ...{ silent: true, type: 'line', name: line, symbol: MARKS[index], symbolSize: 9 },
      data: points.sort(([one], [other]) => one - other),
    })),
  })
  // alternative text for screen readers
  const svg = chart.renderToSVGString().replace('>', `><title>${title}</title>`)
  writeFileSync(join(images, name), `${svg}\n`)
  chart.dispose()
}

function shown(value) {
  return value.toLocaleString('en')
}
