import { expect, test } from '@jest/globals'
import type { HistorySnapshot } from '@sluice/insight'
import { dayOf } from '../../../packages/insight/src/page/bounded-history.ts'
import { placeOf, policyAddress, spanAddress } from '../../../packages/insight/src/page/browser/dom/address.ts'
import { duration, percent, rate, windowText } from '../../../packages/insight/src/page/browser/dom/format.ts'
import { mergedHistory, ratesOf } from '../../../packages/insight/src/page/browser/dom/history.ts'
import { mustRun } from '../../packaging/command.ts'
import { root } from '../../repository.ts'

const MINUTE = 60_000

test('the embedded module of the page equals its source files', async () => {
  await mustRun(process.execPath, ['tools/build/embed-page.mjs', '--check'], root)
})

test('an update replaces the values that it repeats, and the hour moves on', () => {
  const history = (startAt: number, ...values: number[]): HistorySnapshot => ({
    ...{ startAt, stepMs: MINUTE, caps: [] },
    series: [{ policy: 'api', outcome: 'allowed', values }],
  })
  const valuesOf = ({ series }: HistorySnapshot) => series[0].values
  const shown = mergedHistory(undefined, history(0, 1, 2, 3))
  expect(valuesOf(mergedHistory(shown, history(MINUTE, 5, 6, 7)))).toEqual([1, 5, 6, 7])
  // after a gap, before the first step, on another grid
  for (const startAt of [9 * MINUTE, -MINUTE, 7]) {
    expect(mergedHistory(shown, history(startAt, 8))).toEqual(history(startAt, 8))
  }
  const hour = mergedHistory(undefined, history(0, ...Array(61).fill(1)))
  const moved = mergedHistory(hour, history(59 * MINUTE, 2, 3, 4))
  expect({ length: valuesOf(moved).length, startAt: moved.startAt, last: valuesOf(moved).at(-1) }).toEqual({
    ...{ length: 61, startAt: MINUTE, last: 4 },
  })
  const late = mergedHistory(shown, {
    ...shown,
    series: [...shown.series, { policy: 'new', outcome: 'denied', values: [0, 0, 9] }],
  })
  expect(ratesOf(late, { outcome: 'denied', policy: undefined, at: 2.5 * MINUTE })).toEqual([0, 0, 0.3])
})

test.each([0, 1, 7, 14])('a day has the sums of its quarters of an hour, %i minutes into a quarter', (minutes) => {
  const [steps, first] = [1_440, 1_000 * 15 * MINUTE + minutes * MINUTE]
  const ones = { policy: 'api', outcome: 'allowed', values: Array<number>(steps).fill(1) } as const
  const held = { cap: 'jobs', values: Array.from({ length: steps }, (_, step) => step) }
  const history = { startAt: first, stepMs: MINUTE, series: [ones], caps: [held] }
  const day = dayOf(history)
  expect({ startAt: day.startAt, stepMs: day.stepMs }).toEqual({
    startAt: first + ((15 - minutes) % 15) * MINUTE,
    stepMs: 15 * MINUTE,
  })
  const [{ values }] = day.series
  expect({ length: values.length, sum: values.reduce((sum, value) => sum + value) }).toEqual({
    // an incomplete first quarter is omitted
    ...{ length: 96, sum: 95 * 15 + (minutes || 15) },
  })
  expect(values.slice(0, -1)).toEqual(Array(95).fill(15))
  expect(day.caps[0].values.at(-1)).toBe(steps - 1)
  // the part that an update repeats is equal
  const last = dayOf(history, 3)
  expect(last.series[0].values).toEqual(values.slice(-3))
  expect(mergedHistory(day, last, 96)).toEqual(day)
})

test('addresses are parsed back to their views', () => {
  for (const name of ['api', 'a/b', '100 %', '#?&', '<b>', 'ü\u202e']) {
    expect(placeOf(policyAddress(name))).toEqual({ view: 'policy', policy: name, span: 'hour' })
    for (const span of ['hour', 'day'] as const) {
      expect(placeOf(spanAddress(span, name))).toEqual({ view: 'policy', policy: name, span })
      expect(placeOf(spanAddress(span))).toEqual({ view: 'overview', span })
    }
  }
  for (const hash of ['', '#', '#/nothing', '#/policies/%E0%A4%A']) {
    expect(placeOf(hash).view).toBe(hash.includes('policies') ? 'policies' : 'overview')
  }
})

test('numbers have units and thousands separators', () => {
  expect([0, 0.04, 9.96, 12_345.6].map(rate)).toEqual(['0/s', '0/s', '10/s', '12,346/s'])
  expect([0, 0.0004, 0.012, 1].map(percent)).toEqual(['0\u00a0%', '< 0.1\u00a0%', '1.2\u00a0%', '100\u00a0%'])
  const lengths = [0, 8_000, 90_000, 185_000, 7_980_000, 90_000_000].map(duration)
  expect(lengths.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
    '0 s',
    '8 s',
    '90 s',
    '3 min',
    '2 h 13 min',
    '1 d 1 h',
  ])
  expect([1_000, 60_000, 900_000, 250].map(windowText)).toEqual(['second', 'minute', '15 minutes', '250 milliseconds'])
})
