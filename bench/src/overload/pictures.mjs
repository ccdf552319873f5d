// Draws the curves of the last `npm run bench -- overload --write` into docs/images: npm run pictures -w @sluice/bench.
import { readFileSync, writeFileSync } from 'node:fs'
import { init } from 'echarts'
import { peers } from './contender-names.mjs'

const curves = JSON.parse(readFileSync(new URL('../../results/overload-curves.json', import.meta.url), 'utf8'))
const images = new URL('../../../docs/images/', import.meta.url)
const width = 760
const panelHeight = 150
const panelGap = 50
const top = 50
// colours by Okabe and Ito, distinguishable for the colour-blind
const colors = ['#000000', '#d55e00', '#e69f00', '#56b4e9', '#cc79a7', '#009e73', '#0072b2', '#999999']
const panels = [
  { title: 'goodput per second', of: 'goodput', type: 'value' },
  { title: 'p99, ms', of: 'p99', type: 'log' },
  { title: 'requests in the service', of: 'held', type: 'log' },
  { title: 'limit', of: 'limit', type: 'log' },
]

for (const scenario of new Set(curves.map((curve) => curve.scenario))) {
  const all = curves.filter((curve) => curve.scenario === scenario)
  // where the event loop is idle, what watches it admits everything, like a server without a limiter
  const shown = scenario.startsWith('spike') ? all : all.filter(({ contender }) => !peers.includes(contender))
  draw(`overload-${scenario.replaceAll(/[ .]/g, '-')}.svg`, all[0].title, shown)
}

function draw(name, title, lines) {
  const height = top + panels.length * (panelHeight + panelGap) + 40
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  const last = Math.max(...lines.flatMap(({ atS }) => atS.at(-1)))
  chart.setOption({
    animation: false,
    // readable on a dark page, too
    backgroundColor: '#ffffff',
    color: colors,
    title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
    legend: { bottom: 5, itemGap: 18, icon: 'rect', itemHeight: 3 },
    grid: panels.map((_, index) => ({ left: 70, right: 30, top: topOf(index) + 20, height: panelHeight })),
    xAxis: panels.map((_, index) => ({
      type: 'value',
      gridIndex: index,
      max: Math.ceil(last),
      axisLabel: { formatter: '{value} s' },
    })),
    yAxis: panels.map(({ title: text, type }, index) => ({
      type,
      gridIndex: index,
      name: text,
      nameLocation: 'middle',
      nameGap: 48,
      axisLabel: { formatter: (value) => value.toLocaleString('en') },
    })),
    series: panels.flatMap(({ of, type }, index) =>
      lines.map((line) => ({
        type: 'line',
        name: line.contender,
        silent: true,
        showSymbol: false,
        lineStyle: { width: line.contender.startsWith('sluice') ? 2 : 1.2 },
        xAxisIndex: index,
        yAxisIndex: index,
        // a logarithmic axis has no 0; a contender without a limit has no line
        data: line.atS.map((at, point) => [at, type === 'log' && !(line[of][point] > 0) ? null : line[of][point]]),
      })),
    ),
  })
  // alternative text for screen readers
  const svg = chart
    .renderToSVGString()
    .replace('>', `><title>${title}</title>`)
    // for interactive pictures only
    .replaceAll(/ (?:pointer-events|class|xml:space)="[^"]*"/g, '')
  writeFileSync(new URL(name, images), `${svg}\n`)
  chart.dispose()
}

function topOf(index) {
  return top + index * (panelHeight + panelGap)
}
