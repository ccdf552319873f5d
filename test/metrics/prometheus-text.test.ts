import { describe, expect, test } from '@jest/globals'
import { CounterMetric, GaugeMetric, HistogramMetric, Metrics, prometheusText } from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { hostileKeys } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
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

describe('prometheusText', () => {
  test('writes exactly the text that Prometheus expects', () => {
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

  test('is empty without sources, and writes only the header of a metric without samples', () => {
    expect(prometheusText()).toBe('')
    expect(prometheusText(sourceOf())).toBe('')
    const empty = new CounterMetric({ name: 'a', help: '', labels: ['x'] })
    expect(prometheusText(empty)).toBe('# HELP a \n# TYPE a counter\n')
  })

  test('escapes special characters in help texts and label values', () => {
    const metric: Metric = { ...gauge('a', 1, { x: 'a\\b"c\nd' }), help: 'a\\b"c\nd' } as Metric
    const lines = ['# HELP a a\\\\b"c\\nd', '# TYPE a gauge', 'a{x="a\\\\b\\"c\\nd"} 1', '']
    expect(prometheusText(sourceOf(metric))).toBe(lines.join('\n'))
  })

  test('writes any number', () => {
    const numbers = [0, -0, 1.5, -2, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity]
    const metrics = numbers.map((value, index) => gauge(`n${index}`, value))
    const written = readExposition(prometheusText(sourceOf(...metrics))).map(({ samples }) => samples[0].value)
    // the format does not keep the sign of zero
    expect(written).toEqual(numbers.map((value) => (value === 0 ? 0 : value)))
    expect(prometheusText(sourceOf(gauge('a', Infinity)))).toMatch(/a \+Inf\n/)
    expect(prometheusText(sourceOf(gauge('a', Number.NaN)))).toMatch(/a NaN\n/)
  })

  test('writes one header for a metric of several sources, at its first appearance and with the first help text', () => {
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

  test('reads the current values on each call', () => {
    const counter = new CounterMetric({ name: 'a_total', help: '' })
    expect(prometheusText(counter)).toMatch(/a_total 0\n/)
    counter.add(2)
    expect(prometheusText(counter)).toMatch(/a_total 2\n/)
  })

  test('writes hostile label values unchanged', () => {
    // a lone surrogate cannot be written as UTF-8
    const values = hostileKeys.filter((key) => Buffer.from(key).toString() === key)
    const counter = new CounterMetric({ name: 'a_total', help: values.join(), labels: ['key'] })
    for (const value of values) counter.add(1, value)
    const [family] = readExposition(prometheusText(counter))
    expect(family.help).toBe(values.join())
    expect(family.samples.map(({ labels }) => labels.key)).toEqual([...new Set(values)])
  })

  test('adds the +Inf bucket if it is missing, and keeps an existing one', () => {
    const given = { buckets: [{ upperBound: 1, count: 2 }], count: 3, sum: 5 }
    const complete = { ...given, buckets: [...given.buckets, { upperBound: Infinity, count: 3 }] }
    expect(prometheusText(sourceOf(histogram(given)))).toBe(prometheusText(sourceOf(histogram(complete))))
    expect(() => readExposition(prometheusText(sourceOf(histogram(given))))).not.toThrow()
  })
})

describe('prometheusText rejects', () => {
  const bucketed = (...buckets: readonly (readonly [number, number])[]) => ({
    buckets: buckets.map(([upperBound, count]) => ({ upperBound, count })),
    count: 3,
  })
  const rows: readonly (readonly [string, ...unknown[]])[] = [
    ['a name with two types', sourceOf(gauge('a', 1)), new CounterMetric({ name: 'a', help: '' })],
    [
      'equal labels in two sources',
      sourceOf(gauge('a', 1, { x: '1', y: '2' })),
      sourceOf(gauge('a', 1, { y: '2', x: '1' })),
    ],
    ['a metric with the name of a histogram series', sourceOf(histogram({}), gauge('h_count', 1))],
    ['a histogram with a series named like a metric', sourceOf(gauge('h_bucket', 1), histogram({}))],
    ['a name with a dash', sourceOf(gauge('a-b', 1))],
    ['a name that starts with a digit', sourceOf(gauge('1a', 1))],
    ['a name with a line break', sourceOf(gauge('a\n', 1))],
    ['no name', sourceOf(gauge('', 1))],
    ['a label with a colon', sourceOf(gauge('a', 1, { 'x:y': '' }))],
    ['a label that Prometheus reserves', sourceOf(gauge('a', 1, { __name__: 'b' }))],
    ['a label le on a histogram', sourceOf(histogram({}, { le: '1' }))],
    ['a label value that is not a string', sourceOf(gauge('a', 1, { x: 7 }))],
    ['a value that is not a number', sourceOf(gauge('a', '7'))],
    ['no value', sourceOf(gauge('a', undefined))],
    ['no help', sourceOf({ ...gauge('a', 1), help: undefined } as never)],
    ['an unknown type', sourceOf({ ...gauge('a', 1), type: 'summary' } as never)],
    ['decreasing bounds', sourceOf(histogram(bucketed([2, 1], [1, 2])))],
    ['a bound of NaN', sourceOf(histogram(bucketed([Number.NaN, 1])))],
    ['decreasing counts', sourceOf(histogram(bucketed([1, 2], [2, 1])))],
    ['a bucket count above the total', sourceOf(histogram(bucketed([1, 4])))],
    ['a total that differs from the +Inf bucket', sourceOf(histogram(bucketed([Infinity, 2])))],
    ['no source', undefined],
    ['a source without metrics', {}],
  ]

  test.each(rows)('%s', (_what, ...sources) => {
    expect(codeOf(() => prometheusText(...(sources as MetricSource[])))).toBe('SLUICE_BAD_OPTION')
  })
})
