import { describe, expect, test } from '@jest/globals'
import {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  type MetricOptions,
  Metrics,
  prometheusText,
} from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
import { readExposition } from './exposition.ts'

const instruments: readonly [
  string,
  (options: MetricOptions) => MetricSource & { labels(...values: string[]): object },
][] = [
  ['CounterMetric', (options) => new CounterMetric(options)],
  ['GaugeMetric', (options) => new GaugeMetric(options)],
  ['HistogramMetric', (options) => new HistogramMetric({ ...options, buckets: [1, 2] })],
]

function labelsOf(source: MetricSource): unknown[] {
  return [...source.metrics()].flatMap((metric: Metric) => metric.samples.map(({ labels }) => labels))
}

/** Draws values near the bounds, on the bounds, and far away. */
function randomValue(random: SeededRandom, bounds: readonly number[]): number {
  return random.pick([random.pick(bounds), random.pick(bounds) + random.next() - 0.5, (random.next() - 0.5) * 1e6])
}

describe.each(instruments)('%s', (_name, make) => {
  test('has one series for each combination of label values, and one series if it has no labels', () => {
    const metric = make({ name: 'a', help: '', labels: ['x', 'y'] })
    expect(labelsOf(metric)).toEqual([])
    const series = metric.labels('1', '2')
    expect(metric.labels('1', '2')).toBe(series)
    expect(metric.labels('12', '')).not.toBe(series)
    expect(labelsOf(metric)).toEqual([
      { x: '1', y: '2' },
      { x: '12', y: '' },
    ])
    expect(labelsOf(make({ name: 'a', help: '' }))).toEqual([{}])
  })

  test('counts label values beyond maxSeries under "other", which bounds a label that holds keys by mistake', () => {
    const metric = make({ name: 'a', help: '', labels: ['route', 'key'] })
    for (let key = 0; key < 1000; key++) metric.labels('r', `user-${key}`)
    const others = metric.labels('r', 'user-1000')
    for (let key = 1001; key < 5000; key++) expect(metric.labels('r', `user-${key}`)).toBe(others)
    expect(metric.labels('other', 'other')).toBe(others)
    expect(metric.labels('r', 'user-999')).not.toBe(others)
    expect(labelsOf(metric)).toHaveLength(1001)
    expect(labelsOf(metric).at(-1)).toEqual({ route: 'other', key: 'other' })
  })

  test('respects the maxSeries option', () => {
    const metric = make({ name: 'a', help: '', labels: ['x'], maxSeries: 2 })
    for (const value of ['a', 'b', 'c', 'd']) metric.labels(value)
    expect(labelsOf(metric)).toEqual([{ x: 'a' }, { x: 'b' }, { x: 'other' }])
  })

  test('rejects names and labels that the format does not allow', () => {
    const bad: readonly object[] = [
      { name: 'a-b' },
      { name: '' },
      { name: undefined },
      { help: undefined },
      { help: 7 },
      { labels: 'x' },
      { labels: ['a-b'] },
      { labels: ['__x'] },
      { labels: ['x', 'x'] },
      { maxSeries: 0 },
      { maxSeries: 1.5 },
      { label: ['x'] },
    ]
    for (const options of bad) {
      const code = codeOf(() => make({ name: 'a', help: '', ...options }))
      expect({ options, code }).toEqual({ options, code: 'SLUICE_BAD_OPTION' })
    }
  })

  test('rejects a wrong number of label values, and label values that are not strings', () => {
    const metric = make({ name: 'a', help: '', labels: ['x', 'y'] })
    metric.labels('1', '2')
    for (const values of [[], ['1'], ['1', '2', '3'], ['1:11:2'], ['3', 4], [undefined, '2']]) {
      expect(codeOf(() => metric.labels(...(values as string[])))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(() => make({ name: 'a', help: '' }).labels('1'))).toBe('SLUICE_BAD_OPTION')
    expect(labelsOf(metric)).toHaveLength(1)
  })
})

describe('a counter', () => {
  test('grows by the given amount, and by 1 by default', () => {
    const counter = new CounterMetric({ name: 'a_total', help: '', labels: ['x'] })
    const series = counter.labels('1')
    series.add()
    series.add(2.5)
    counter.add(0.5, '1')
    expect(series.value).toBe(4)
  })

  test('rejects amounts that are negative or not finite, and keeps its value', () => {
    const series = new CounterMetric({ name: 'a_total', help: '' }).labels()
    series.add(3)
    for (const amount of [-1, Number.NaN, Infinity, 'x']) {
      expect(codeOf(() => series.add(amount as number))).toBe('SLUICE_BAD_OPTION')
    }
    expect(series.value).toBe(3)
  })
})

describe('a gauge', () => {
  test('has the value that was last set plus later additions', () => {
    const gauge = new GaugeMetric({ name: 'a', help: '' })
    gauge.set(5)
    gauge.add(-7)
    expect(gauge.labels().value).toBe(-2)
    expect(codeOf(() => gauge.set('5' as never))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => gauge.add(undefined as never))).toBe('SLUICE_BAD_OPTION')
    expect(gauge.labels().value).toBe(-2)
  })
})

describe('a histogram', () => {
  test('counts in each bucket the values up to its bound, like a model that keeps all values', () =>
    eachSeed(60, (random) => {
      const count = 1 + random.whole(40)
      const bounds = [...new Set(Array.from({ length: count }, () => random.whole(200) - 100))].sort((a, b) => a - b)
      const histogram = new HistogramMetric({ name: 'h', help: '', buckets: bounds })
      const values = Array.from({ length: 500 }, () => randomValue(random, bounds))
      for (const value of values) histogram.observe(value)
      const [{ samples }] = readExposition(prometheusText(histogram))
      const expected = [...bounds, Infinity].map((bound) => values.filter((value) => value <= bound).length)
      expect(samples.slice(0, -2).map(({ value }) => value)).toEqual(expected)
      expect(samples.at(-2)?.value).toBe(values.reduce((sum, value) => sum + value, 0))
      expect(samples.at(-1)?.value).toBe(500)
    }))

  test('rejects values that are not finite numbers, and does not count them', () => {
    const histogram = new HistogramMetric({ name: 'h', help: '', buckets: [1] })
    for (const value of [Number.NaN, Infinity, -Infinity, undefined, '1']) {
      expect(codeOf(() => histogram.observe(value as number))).toBe('SLUICE_BAD_OPTION')
    }
    expect(prometheusText(histogram)).toMatch(/h_count 0\n/)
  })

  test('rejects bounds that do not ascend, and a label named le', () => {
    const make = (options: object) => () => new HistogramMetric({ name: 'h', help: '', buckets: [1], ...options })
    for (const buckets of [[], [1, 1], [2, 1], [1, Infinity], [Number.NaN], ['1'], 7, undefined]) {
      expect(codeOf(make({ buckets }))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(make({ labels: ['le'] }))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('a group of metric sources', () => {
  test('adds its prefix and labels to every metric, and groups can be nested', () => {
    const inner = new Metrics([new GaugeMetric({ name: 'a', help: '' })], { prefix: 'in_', labels: { x: '1' } })
    const outer = new Metrics([inner], { prefix: 'out_', labels: { y: '2' } })
    const [{ name, samples }] = readExposition(prometheusText(outer))
    expect({ name, labels: samples[0].labels }).toEqual({ name: 'out_in_a', labels: { x: '1', y: '2' } })
  })

  test('keeps the same metric of two sources apart by their labels', () => {
    const one = (app: string) => new Metrics([new CounterMetric({ name: 'a_total', help: '' })], { labels: { app } })
    const [{ samples }] = readExposition(prometheusText(one('x'), one('y')))
    expect(samples.map(({ labels }) => labels.app)).toEqual(['x', 'y'])
  })

  test('rejects invalid prefixes and labels, and labels that a sample already has', () => {
    const gauge = new GaugeMetric({ name: 'a', help: '', labels: ['x'] })
    gauge.set(1, 'one')
    const bad: readonly (() => unknown)[] = [
      () => new Metrics([gauge], { prefix: '1-' }),
      () => new Metrics([gauge], { labels: { 'a-b': '1' } }),
      () => new Metrics([gauge], { labels: { a: 1 } as never }),
      () => new Metrics([gauge], { labels: null as never }),
      () => new Metrics([{} as MetricSource]),
      () => new Metrics(gauge as never),
      () => prometheusText(new Metrics([gauge], { labels: { x: '1' } })),
    ]
    for (const build of bad) expect(codeOf(build)).toBe('SLUICE_BAD_OPTION')
  })
})

test('the text of randomly used instruments is read back unchanged', () =>
  eachSeed(30, (random) => {
    const texts = ['', 'a', '"', '\\', '\n', 'a,b="c"', '}', ' # HELP', 'ä', '\\n', '\u2028']
    const text = () => Array.from({ length: random.whole(4) }, () => random.pick(texts)).join('')
    const counter = new CounterMetric({ name: 'c_total', help: text(), labels: ['x', 'y'], maxSeries: 20 })
    const gauge = new GaugeMetric({ name: 'g', help: text(), labels: ['x'] })
    const histogram = new HistogramMetric({ name: 'h', help: text(), labels: ['x'], buckets: [-1, 0, 0.5] })
    for (let round = 0; round < 50; round++) {
      counter.add(random.whole(3), text(), text())
      gauge.set(random.pick([Number.NaN, Infinity, -Infinity, random.next(), -random.whole(9)]), text())
      histogram.observe(random.next() * 4 - 2, text())
    }
    const metrics = [counter, gauge, histogram].flatMap((source) => [...source.metrics()])
    const read = readExposition(prometheusText(counter, gauge, histogram))
    expect(read.map(({ name, help, type }) => ({ name, help, type }))).toEqual(
      metrics.map(({ name, help, type }) => ({ name, help, type })),
    )
    for (const [index, metric] of metrics.entries()) {
      if (metric.type === 'histogram') continue
      const samples = read[index].samples.map(({ labels, value }) => ({ labels, value: value + 0 }))
      expect(samples).toEqual(metric.samples.map(({ labels, value }) => ({ labels, value: value + 0 })))
    }
  }))
