import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'

const main = join(root, 'examples/gossip/dist/index.js')

test('five processes share a limit and a sketch without a server', async () => {
  if (!existsSync(main)) throw new Error('examples/gossip is not built: npx turbo run build')
  const env = { ...process.env, NODE_OPTIONS: '' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main], { env, timeout: 110_000 })
  const rows = [
    ...stdout.matchAll(
      /^process \d {3}admitted here (\d+) {3}left of the limit 0 {3}calls of all 400 {3}visitors of all (\d+)$/gm,
    ),
  ]
  expect(rows).toHaveLength(5)
  const admitted = rows.reduce((sum, [, here]) => sum + Number(here), 0)
  expect(admitted).toBeGreaterThanOrEqual(100)
  // without exchange, each replica would admit 80
  expect(admitted).toBeLessThanOrEqual(250)
  // estimated by a sketch from 400, and equal in all replicas
  const visitors = rows.map(([, , all]) => Number(all))
  expect(new Set(visitors).size).toBe(1)
  expect(Math.abs(visitors[0] - 400)).toBeLessThan(40)
  expect(stderr).toBe('')
})
