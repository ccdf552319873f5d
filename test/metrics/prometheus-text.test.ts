import { describe, expect, test } from '@jest/globals'
import { type Metric, type MetricSource, prometheusText } from '@sluice/limiter-core'
import { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '@sluice/limiter-core/backend'
import { hostileKeys } from '@sluice/testkit'
import { readExposition } from './exposition.ts'

function sourceOf(...metrics: readonly Metric[]): MetricSource {
  return { metrics: () => metrics }
}

function gauge(name: string, value: unknown, labels: object = {}): Metric {
  return { name, help: 'Text.', type: 'gauge', samples: [{ labels: labels as never, value: value as number }] }
}

function histogram(sample: object, labels = {}): Metric {
  const samples = [{ labels, buckets: [], sum: 0, count: 0, ...sample }]
  return { name: 'h', help: 'Text.', type: 'histogram', samples }
}

/** The code of the error, and nothing where there is none. */
function codeOf(build: () => unknown): unknown {
  try {
    build()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return undefined
}

describe('the text of metrics', () => {
  test('is what Prometheus reads, to the letter', () => {
    const decisions = new CounterMetric({ name: 'decisions_total', help: 'Decisions.', labels: ['policy', 'outcome'] })
    decisions.labels('api', 'allowed').add(3)
    decisions.labels('api', 'denied').add()
    const held = new GaugeMetric({ name: 'held', help: 'Permits that are held.' })
    held.set(2.5)
    const seconds = new HistogramMetric({ name: 'seconds', help: 'Time.', labels: ['op'], buckets: [0.1, 1, 10] })
    for (const value of [0.1, 0.5, 4, 20]) seconds.observe(value, 'take')
    const sources = new Metrics([decisions, held, seconds], { prefix: 'sluice_', labels: { app: 'shop' } })
    expect(prometheusText(sources)).toBe(
      [
        '# HELP sluice_decisions_total Decisions.',
        '# TYPE sluice_decisions_total counter',
        'sluice_decisions_total{app="shop",outcome="allowed",policy="api"} 3',
        'sluice_decisions_total{app="shop",outcome="denied",policy="api"} 1',
        '# HELP sluice_held Permits that are held.',
        '# TYPE sluice_held gauge',
        'sluice_held{app="shop"} 2.5',
        '# HELP sluice_seconds Time.',
        '# TYPE sluice_seconds histogram',
        'sluice_seconds_bucket{app="shop",op="take",le="0.1"} 1',
        'sluice_seconds_bucket{app="shop",op="take",le="1"} 2',
        'sluice_seconds_bucket{app="shop",op="take",le="10"} 3',
        'sluice_seconds_bucket{app="shop",op="take",le="+Inf"} 4',
        'sluice_seconds_sum{app="shop",op="take"} 24.6',
        'sluice_seconds_count{app="shop",op="take"} 4',
        '',
      ].join('\n'),
    )
  })

  test('of no source is empty, and a metric without samples is its header', () => {
    expect(prometheusText()).toBe('')
    expect(prometheusText(sourceOf())).toBe('')
    const empty = new CounterMetric({ name: 'a', help: '', labels: ['x'] })
    expect(prometheusText(empty)).toBe('# HELP a \n# TYPE a counter\n')
  })

  test('escapes what ends a help or a label value', () => {
    const metric: Metric = { ...gauge('a', 1, { x: 'a\\b"c\nd' }), help: 'a\\b"c\nd' } as Metric
    const lines = ['# HELP a a\\\\b"c\\nd', '# TYPE a gauge', 'a{x="a\\\\b\\"c\\nd"} 1', '']
    expect(prometheusText(sourceOf(metric))).toBe(lines.join('\n'))
  })

  test('writes any number', () => {
    const numbers = [0, -0, 1.5, -2, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity]
    const metrics = numbers.map((value, index) => gauge(`n${index}`, value))
    const written = readExposition(prometheusText(sourceOf(...metrics))).map(({ samples }) => samples[0].value)
    // the sign of zero is none
    expect(written).toEqual(numbers.map((value) => (value === 0 ? 0 : value)))
    expect(prometheusText(sourceOf(gauge('a', Infinity)))).toMatch(/a \+Inf\n/)
    expect(prometheusText(sourceOf(gauge('a', Number.NaN)))).toMatch(/a NaN\n/)
  })

  test('has one header for a metric of several sources, where it first appears, with the first help', () => {
    const first = sourceOf(gauge('a', 1, { app: 'x' }), gauge('b', 2))
    const second = sourceOf(gauge('c', 3), { ...gauge('a', 4, { app: 'y' }), help: 'Other.' } as Metric)
    const families = readExposition(prometheusText(first, second))
    expect(families.map(({ name, help }) => [name, help])).toEqual([
      ['a', 'Text.'],
      ['b', 'Text.'],
      ['c', 'Text.'],
    ])
    expect(families[0].samples.map(({ labels, value }) => [labels.app, value])).toEqual([
      ['x', 1],
      ['y', 4],
    ])
  })

  test('is read anew each time', () => {
    const counter = new CounterMetric({ name: 'a_total', help: '' })
    expect(prometheusText(counter)).toMatch(/a_total 0\n/)
    counter.add(2)
    expect(prometheusText(counter)).toMatch(/a_total 2\n/)
  })

  test('says each label of a stranger as it is', () => {
    // a lone surrogate has no UTF-8
    const values = hostileKeys.filter((key) => Buffer.from(key).toString() === key)
    const counter = new CounterMetric({ name: 'a_total', help: values.join(), labels: ['key'] })
    for (const value of values) counter.add(1, value)
    const [family] = readExposition(prometheusText(counter))
    expect(family.help).toBe(values.join())
    expect(family.samples.map(({ labels }) => labels.key)).toEqual([...new Set(values)])
  })

  test('completes buckets by that of all values, and keeps one that is there', () => {
    const given = { buckets: [{ upperBound: 1, count: 2 }], count: 3, sum: 5 }
    const complete = { ...given, buckets: [...given.buckets, { upperBound: Infinity, count: 3 }] }
    expect(prometheusText(sourceOf(histogram(given)))).toBe(prometheusText(sourceOf(histogram(complete))))
    expect(() => readExposition(prometheusText(sourceOf(histogram(given))))).not.toThrow()
  })
})

describe('the text of metrics is refused', () => {
  const bucketed = (...buckets: readonly (readonly [number, number])[]) => ({
    buckets: buckets.map(([upperBound, count]) => ({ upperBound, count })),
    count: 3,
  })
  const rows: readonly (readonly [string, ...unknown[]])[] = [
    ['a name of two types', sourceOf(gauge('a', 1)), new CounterMetric({ name: 'a', help: '' })],
    [
      'equal labels in two sources',
      sourceOf(gauge('a', 1, { x: '1', y: '2' })),
      sourceOf(gauge('a', 1, { y: '2', x: '1' })),
    ],
    ['a metric named like a part of a histogram', sourceOf(histogram({}), gauge('h_count', 1))],
    ['a histogram with a part named like a metric', sourceOf(gauge('h_bucket', 1), histogram({}))],
    ['a name with a dash', sourceOf(gauge('a-b', 1))],
    ['a name with a digit first', sourceOf(gauge('1a', 1))],
    ['a name with a second line', sourceOf(gauge('a\n', 1))],
    ['no name', sourceOf(gauge('', 1))],
    ['a label with a colon', sourceOf(gauge('a', 1, { 'x:y': '' }))],
    ['a label that Prometheus keeps for itself', sourceOf(gauge('a', 1, { __name__: 'b' }))],
    ['a label le of a histogram', sourceOf(histogram({}, { le: '1' }))],
    ['a label value that is no text', sourceOf(gauge('a', 1, { x: 7 }))],
    ['a value that is no number', sourceOf(gauge('a', '7'))],
    ['no value', sourceOf(gauge('a', undefined))],
    ['no help', sourceOf({ ...gauge('a', 1), help: undefined } as never)],
    ['an unknown type', sourceOf({ ...gauge('a', 1), type: 'summary' } as never)],
    ['bounds that fall', sourceOf(histogram(bucketed([2, 1], [1, 2])))],
    ['a bound of NaN', sourceOf(histogram(bucketed([Number.NaN, 1])))],
    ['counts that fall', sourceOf(histogram(bucketed([1, 2], [2, 1])))],
    ['more in a bucket than there are', sourceOf(histogram(bucketed([1, 4])))],
    ['another count than that of all', sourceOf(histogram(bucketed([Infinity, 2])))],
    ['no source', undefined],
    ['a source without metrics', {}],
  ]

  test.each(rows)('for %s', (_what, ...sources) => {
    expect(codeOf(() => prometheusText(...(sources as MetricSource[])))).toBe('SLUICE_BAD_OPTION')
  })
})
