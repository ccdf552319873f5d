import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import { root } from '../repository.ts'

const BIN = join(root, 'packages/cli/dist/cjs/bin.js')
const RUNS = 12
/** Largest part of a start that may be the command's own, as a multiple of the start of Node.js alone. */
const MOST = 2.5

/** Returns the time of one run in ms. */
function start(args: readonly string[]): number {
  const startedAt = systemClock.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  expect(status).toBe(0)
  return systemClock.now() - startedAt
}

test.each(['--version', '--help'])('sluice %s starts almost as fast as Node.js alone', (option) => {
  const bare: number[] = []
  const own: number[] = []
  // alternately, so that a busy moment of the machine affects both
  for (let run = 0; run < RUNS; run++) {
    bare.push(start(['-e', '0']))
    own.push(start([BIN, option]))
  }
  const [fastestBare, fastest] = [bare, own].map((times) => Math.min(...times))
  process.stdout.write(`sluice ${option}: ${fastest.toFixed(0)} ms, node alone: ${fastestBare.toFixed(0)} ms\n`)
  // node alone takes 40 to 60 ms on an idle machine, where this is less than 150 ms
  expect(fastest).toBeLessThan(Math.max(150, MOST * fastestBare))
})
