import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { billOf, run } from '../../../examples/agent/src/index.ts'
import { played } from '../../budgets/runs/fake-model.ts'
import { root } from '../../repository.ts'

/** A chunk of the stub, in millionths of a dollar. */
const CHUNK = 100

test('the example of an agent stops within its budget', async () => {
  const clock = new FakeClock()
  const report = await played(clock, run({ usd: '0.05', clock }), 2)
  expect(report.end).toMatchObject({ bound: 'usd', limit: '0.050000' })
  // calls that cannot be cut off hold the rest
  expect(report.spent.microUsd).toBeGreaterThan(45_000)
  expect(report.spent.microUsd).toBeLessThanOrEqual(50_000 + 4 * CHUNK)
  const [searcher, ...others] = report.children
  expect(searcher).toMatchObject({ name: 'searcher', end: { bound: 'loop', tool: 'search', limit: 3 } })
  for (const { end } of others) expect(end).toMatchObject({ bound: 'usd' })
  expect(report.children.reduce((sum, { spent }) => sum + spent.microUsd, 0)).toBe(report.spent.microUsd)
  clock.advance(10)
  expect(clock.pending).toBe(0)
  expect(billOf(report).split('\n')).toHaveLength(5)
})

test('the built example prints a bill by sub-agent, and why it ended', async () => {
  const main = join(root, 'examples/agent/dist/index.js')
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env: { ...process.env, NODE_OPTIONS: '' } })
  expect(stdout).toMatch(/^searcher +\$0\.\d{6} +\d+ tokens +\d+ calls {2}ended by loop of search, bound of searcher$/m)
  expect(stdout).toMatch(/^run +\$0\.0[45]\d{4} .* ended by usd, bound of run$/m)
})
