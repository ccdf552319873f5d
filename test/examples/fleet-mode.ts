import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from '@jest/globals'
import { root } from '../repository.ts'
import { redisBinary } from '../services/redis/redis-binary.ts'

export const run = promisify(execFile)
export const main = join(root, 'examples/fleet/dist/index.js')

export const env = { ...process.env, SECONDS: '12', REDIS_SERVER: redisBinary(), NODE_OPTIONS: '' }

/** Tests that a mode of the fleet keeps its promise, and that processes use it while Redis is reachable. */
export async function keepsItsPromise(mode: string, source: string): Promise<void> {
  if (!existsSync(main)) throw new Error('examples/fleet is not built: npx turbo run build')
  // it exits with code 1 if more was admitted than promised, or a response was invalid
  const { stdout } = await run(process.execPath, [main, '--mode', mode], { env, timeout: 110_000 }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`)
  })
  expect(stdout).toContain('Failed requests: 0.')
  expect(stdout).toMatch(
    /Most admitted in any window of 10 s, divided by the limit: [01]\.\d+ \(promised: 1\.\d+\)\.\n$/,
  )
  const admitted = [...stdout.matchAll(new RegExp(`Redis up .* (\\d+) by ${source}`, 'g'))]
  const units = admitted.reduce((sum, [, n]) => sum + Number(n), 0)
  expect({ stdout, isUsed: units > 250 }).toEqual({ stdout, isUsed: true })
  expect(stdout.match(/Redis down .*admitted \/ limit \d\.\d\d/g)).toHaveLength(4)
}
