import { expect, test } from '@jest/globals'
import { readExposition } from './exposition.ts'

const head = (name: string, type: string) => `# HELP ${name} Text.\n# TYPE ${name} ${type}\n`
const buckets = (...lines: string[]) => `${head('h', 'histogram')}${lines.join('\n')}\n`

test('the exposition reader of these tests parses what Prometheus parses', () => {
  const text = `${head('a_total', 'counter')}a_total{x="1",y="a\\\\\\"\\nb"} 1e+21\n${head('b', 'gauge')}b -Inf\n`
  expect(readExposition(text)).toEqual([
    {
      ...{ name: 'a_total', help: 'Text.', type: 'counter' },
      samples: [{ name: 'a_total', labels: { x: '1', y: 'a\\"\nb' }, value: 1e21 }],
    },
    {
      ...{ name: 'b', help: 'Text.', type: 'gauge' },
      samples: [{ name: 'b', labels: {}, value: Number.NEGATIVE_INFINITY }],
    },
  ])
})

test.each([
  ['no newline after the last line', `${head('a', 'gauge')}a 1`],
  ['no header', 'a 1\n'],
  ['no type', '# HELP a Text.\na 1\n'],
  ['an empty line', `${head('a', 'gauge')}\na 1\n`],
  ['an unescaped quote', `${head('a', 'gauge')}a{x="""} 1\n`],
  ['an unknown escape', `${head('a', 'gauge')}a{x="\\t"} 1\n`],
  ['an unescaped backslash in HELP', '# HELP a \\t\n# TYPE a gauge\n'],
  ['a duplicate label', `${head('a', 'gauge')}a{x="1",x="2"} 1\n`],
  ['equal series', `${head('a', 'gauge')}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
  ['a duplicate family', `${head('a', 'gauge')}a 1\n${head('a', 'gauge')}`],
  ['a sample of another family', `${head('a', 'gauge')}b 1\n`],
  ['an invalid number', `${head('a', 'gauge')}a Infinity\n`],
  [
    'a counter with the name of a histogram series',
    `${buckets('h_bucket{le="+Inf"} 0', 'h_sum 0', 'h_count 0')}${head('h_sum', 'counter')}`,
  ],
  ['decreasing buckets', buckets('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', 'h_sum 0', 'h_count 1')],
  [
    'decreasing bounds',
    buckets('h_bucket{le="1"} 0', 'h_bucket{le="0"} 0', 'h_bucket{le="+Inf"} 1', 'h_sum 0', 'h_count 1'),
  ],
  ['no +Inf bucket', buckets('h_bucket{le="1"} 2', 'h_sum 0', 'h_count 2')],
  ['a count that differs from the +Inf bucket', buckets('h_bucket{le="+Inf"} 2', 'h_sum 0', 'h_count 1')],
  ['no sum', buckets('h_bucket{le="+Inf"} 2', 'h_count 2')],
])('the exposition reader rejects what Prometheus rejects: %s', (_what, text) => {
  expect(() => readExposition(text)).toThrow()
})
