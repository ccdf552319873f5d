import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { packages, root } from '../../repository.ts'
import { BusyProcess } from './busy-process.ts'
import { type ExposedSeries, exposedSeries } from './exposed-series.ts'

const folder = join(root, 'packages/insight/grafana')
const dashboard: {
  readonly panels: readonly {
    readonly type: string
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
} = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
const alerts = readFileSync(join(folder, 'alerts.yaml'), 'utf8')
  .split(/^ {6}- alert: /m)
  .slice(1)

const panels = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
const rules = alerts.map((rule) => ({
  title: rule.split('\n')[0],
  expr: /^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/m.exec(rule)?.slice(1).join('') ?? '',
}))
const expressions = [...panels, ...rules]

let busy: BusyProcess
let series: readonly ExposedSeries[]
beforeAll(async () => {
  busy = await BusyProcess.start()
  series = exposedSeries(await busy.metrics())
})
afterAll(() => busy.close())

/** Returns the metric names of an expression, each with the labels that it filters by. */
function selectorsOf(
  expr: string,
): readonly { readonly name: string; readonly matched: readonly (readonly [string, string, string])[] }[] {
  return [...expr.matchAll(/\b(sluice_\w+)(?:\{([^}]*)\})?/g)].map(([, name, matchers = '']) => ({
    name,
    matched: [...matchers.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)].map(
      ([, label, how, value]) => [label, how, value] as const,
    ),
  }))
}

test.each(expressions)('$title uses metrics and labels that a running process has', ({ expr }) => {
  expect(selectorsOf(expr).length).toBeGreaterThan(0)
  for (const { name, matched } of selectorsOf(expr)) {
    const own = series.filter((one) => one.name === name)
    expect({ name, count: own.length }).not.toEqual({ name, count: 0 })
    for (const [label, how, value] of matched.filter(([label]) => label !== 'job')) {
      const values = own.map(({ labels }) => labels[label])
      expect(values).toContainEqual(how === '=' ? value : expect.any(String))
    }
  }
  // Prometheus adds job and instance, and le belongs to buckets
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names]) => names.split(', '))
  const known = new Set(series.flatMap(({ labels }) => Object.keys(labels)))
  expect(grouped.filter((label) => !known.has(label) && !['job', 'instance'].includes(label))).toEqual([])
})

test.each(expressions)('$title has balanced brackets, and rate() is used with counters only', ({ expr }) => {
  expect(expr.split('(').length).toBe(expr.split(')').length)
  const rated = [...expr.matchAll(/(?:rate|increase)\((\w+)/g)].map(([, name]) => name)
  expect(rated.filter((name) => !/_(total|bucket|sum|count)$/.test(name))).toEqual([])
})

test('every panel has a legend of labels that its expression keeps, and a separate position', () => {
  for (const { targets = [] } of dashboard.panels) {
    for (const { expr, legendFormat } of targets) {
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(expr).toContain(label)
    }
  }
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x},${y}`)
  expect(new Set(places).size).toBe(places.length)
  expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
})

describe('the alerts', () => {
  test('cover denials, breakers, uncounted decisions, evictions, stale counts and full caps', () => {
    const titles = ['DenialsJump', 'BreakerOpen', 'Uncounted', 'Evictions', 'SyncStale', 'CapFull']
    expect(rules.map(({ title }) => title)).toEqual(titles.map((title) => `Sluice${title}`))
    for (const rule of alerts) {
      for (const field of ['expr', 'for', 'labels', 'annotations'])
        expect(rule).toMatch(new RegExp(`^ {8}${field}:`, 'm'))
    }
  })

  test('are shipped with the dashboard', () => {
    const insight = packages.find(({ name }) => name === '@sluice/insight')
    expect(readFileSync(join(insight?.folder ?? '', 'package.json'), 'utf8')).toContain('"grafana"')
  })
})
