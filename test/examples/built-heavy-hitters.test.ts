import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'

const run = promisify(execFile)
const main = join(root, 'examples/heavy-hitters/dist/index.js')

test('a running server shows its busiest clients, the number of clients and their p99, in a few kilobytes', async () => {
  if (!existsSync(main)) throw new Error('examples/heavy-hitters is not built: npx turbo run build')
  const env = { ...process.env, SECONDS: '3', NODE_OPTIONS: '' }
  const { stdout } = await run(process.execPath, [main], { env, timeout: 110_000 })
  // the busiest of a hundred thousand clients sends one request in twelve
  expect(stdout).toMatch(/^ {2}client-1 +\d+ ± 0$/m)
  expect(stdout).toMatch(/Of the 5 busiest clients, [45] were found\./)
  const off = Number(/off by ([\d.]+) %/.exec(stdout)?.[1])
  expect(off).toBeLessThan(4)
  const p99 = [...stdout.matchAll(/p99 ([\d.]+) ms/g)].map(([, ms]) => Number(ms))
  expect(p99.length).toBe(3)
  expect(p99[2]).toBeGreaterThan(70)
  const kib = [...stdout.matchAll(/in (\d+) KiB/g)].map(([, size]) => Number(size))
  expect(Math.max(...kib)).toBeLessThan(100)
})
