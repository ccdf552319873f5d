import { appendFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { type AdmittedRow, admittedRow, jsonLine } from './admitted-table.ts'
import { publishedRow } from './published-row.ts'

const ONE_RUN_MS = 3_600_000
const DEMANDS = [1.2, 2, 10, 100]
/** If this file is named, rows are appended to it as lines of JSON. */
const path = process.env.SLUICE_CURVES

function noted(row: AdmittedRow): AdmittedRow {
  process.stdout.write(jsonLine(row))
  if (path) appendFileSync(path, jsonLine(row))
  return row
}

// by demand, the maximum in any window and the long-run average
describe.each([
  [5, [1.03, 1.03, 1.05, 1.1], 1.1],
  [20, [1.03, 1.03, 1.05, 1.15], 1.05],
  [50, [1.03, 1.03, 1.05, 1.15], 1.05],
  [200, [1.06, 1.06, 1.08, 1.2], 1.08],
  [1_000, [1.15, 1.25, 1.25, 1.3], 1.25],
])('%d nodes', (nodes, mosts, mostSteady) => {
  test.each(DEMANDS.map((demand, at) => [demand, mosts[at]] as const))(
    'at %d times their limit admit at most %d limits in any window',
    async (demand, atMost) => {
      const { most, steady } = noted(await admittedRow(nodes, demand))
      expect(most).toBeLessThanOrEqual(atMost)
      expect(steady).toBeGreaterThanOrEqual(0.95)
      expect(steady).toBeLessThanOrEqual(mostSteady)
    },
    ONE_RUN_MS,
  )
})

// all requests of a second arrive within 50 ms, before any exchange is possible, so 100 times the limit costs most
describe.each([
  ['hopping', [1.03, 1.03, 1.05, 1.15]],
  ['bursts', [1.03, 1.06, 1.25, 2]],
  ['mid-epoch', [1.03, 1.03, 1.05, 1.15]],
  ['slices: 60', [1.03, 1.03, 1.05, 1.15]],
])('20 nodes, %s', (shape, mosts) => {
  test.each(DEMANDS.map((demand, at) => [demand, mosts[at]] as const))(
    'at %d times their limit admit at most %d limits in any window',
    async (demand, atMost) => {
      expect(noted(await admittedRow(20, demand, shape)).most).toBeLessThanOrEqual(atMost)
    },
    ONE_RUN_MS,
  )
})

test.each([5, 20, 50, 200])(
  '%d published limiters admit more than twice their limit at 10 times the demand',
  (nodes) => {
    for (const demand of [1.2, 2, 10]) noted(publishedRow(nodes, demand))
    expect(publishedRow(nodes, 10).most).toBeGreaterThan(2.2)
  },
  ONE_RUN_MS,
)
