import { describe, expect, test } from '@jest/globals'
import { hourBars } from '../../packages/cli/src/report/hour-bars.ts'
import { percent } from '../../packages/cli/src/report/number-text.ts'
import { barChart, curveChart } from '../../packages/cli/src/report/svg-charts.ts'
import { count } from '../../packages/cli/src/terminal/figures.ts'

const hour = (index: number): string => new Date(Date.UTC(2026, 4, 17) + index * 3_600_000).toISOString()
const numbersIn = (svg: string): readonly number[] =>
  [...svg.matchAll(/ (?:x|y|x1|x2|y1|y2|width|height|points)="([^"]*)"/g)].flatMap(([, text]) =>
    text.split(/[ ,]/).map(Number),
  )

describe('the charts of a report', () => {
  test('have a bar for each hour, also for hours without requests', () => {
    const bars = hourBars([
      { at: hour(0), requests: 5, denied: 1 },
      { at: hour(3), requests: 7, denied: 0 },
    ])
    expect(bars.map(({ value, part }) => [value, part])).toEqual([
      [5, 1],
      [0, 0],
      [0, 0],
      [7, 0],
    ])
    expect(bars[3].label).toBe('2026-05-17 03:00')
    expect(hourBars([])).toEqual([])
  })

  test('join hours to at most 168 bars, without losing a request', () => {
    const hours = Array.from({ length: 5000 }, (_, index) => ({ at: hour(index * 3), requests: 2, denied: 1 }))
    const bars = hourBars(hours)
    expect(bars.length).toBeLessThanOrEqual(168)
    expect(bars.reduce((sum, { value }) => sum + value, 0)).toBe(10_000)
    expect(bars.reduce((sum, { part }) => sum + part, 0)).toBe(5000)
  })

  test('are within their area and have finite numbers, also without data', () => {
    const names = { value: 'requests', part: 'denied' }
    const charts = [
      barChart('none', [], names),
      barChart('zero', [{ label: 'a', value: 0, part: 0 }], names),
      barChart('large', [{ label: 'a', value: 1e15, part: 1 }], names),
      curveChart('none', [], [], ['', '']),
      curveChart('flat', [1, 1, 1], [{ name: 'limit', value: 1 }], ['a', 'b']),
      curveChart('large', [0, 1, 1e15], [{ name: 'limit', value: 1e12 }], ['a', 'b']),
    ]
    for (const chart of charts) {
      for (const number of numbersIn(chart).filter((one) => !Number.isNaN(one))) {
        expect(number).toBeGreaterThanOrEqual(0)
        expect(number).toBeLessThanOrEqual(720)
      }
      expect(chart).not.toMatch(/NaN|Infinity|undefined/)
    }
  })

  test('write the name of a level below its line if the line of a higher level is near', () => {
    const namesOf = (levels: readonly number[]) => {
      const named = levels.map((value) => ({ name: 'level', value }))
      const labels = curveChart('near', [1, 100], named, ['', '']).matchAll(/<text class="(name[^"]*)" y="([\d.]+)"/g)
      return Array.from(labels, ([, kind, y]) => ({ kind, y: Number(y) }))
    }
    const [limit, proposed] = namesOf([60, 50])
    expect([limit.kind, proposed.kind]).toEqual(['name', 'name below'])
    expect(proposed.y).toBeGreaterThan(limit.y)
    expect(namesOf([50, 60]).map(({ kind }) => kind)).toEqual(['name below', 'name'])
    expect(namesOf([60, 3]).map(({ kind }) => kind)).toEqual(['name', 'name'])
    expect(namesOf([60, 60]).map(({ kind }) => kind)).toEqual(['name', 'name'])
  })

  test('escape their labels', () => {
    expect(barChart('<b>', [{ label: '"><script>', value: 1, part: 0 }], { value: 'a', part: 'b' })).not.toMatch(
      /<b>|<script>/,
    )
  })
})

describe('numbers of a report', () => {
  test('are shown with three digits, and never rounded to nothing or to all', () => {
    expect([0, 0.00001, 0.00114, 0.02346, 0.5, 0.9996, 0.99999, 1].map(percent)).toEqual([
      ...['0 %', '< 0.01 %', '0.114 %', '2.35 %', '50 %', '99.96 %', '> 99.99 %', '100 %'],
    ])
    expect(count(1234567)).toBe('1,234,567')
  })
})
