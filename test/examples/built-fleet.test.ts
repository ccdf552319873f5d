import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { redisBinary } from '../services/redis-binary.ts'

const run = promisify(execFile)
const main = join(root, 'examples/fleet/dist/index.js')

test('the fleet keeps its limit while Redis is killed and begins anew', async () => {
  if (!existsSync(main)) throw new Error('examples/fleet is not built: npx turbo run build')
  const env = { ...process.env, SECONDS: '6', REDIS_SERVER: redisBinary(), NODE_OPTIONS: '' }
  // it ends with code 1 where more was admitted than the limit, or an answer was none
  const { stdout } = await run(process.execPath, [main], { env, timeout: 60_000 })
  expect(stdout).toMatch(/The most in any second: \d+ of 100\. Answers that were no answer: 0\./)
  const sum = (admitted: RegExp): number => [...stdout.matchAll(admitted)].reduce((all, [, n]) => all + Number(n), 0)
  expect(sum(/Redis up .*\( *(\d+) by Redis/g)).toBeGreaterThan(100)
  expect(sum(/Redis down .*, *(\d+) by shares/g)).toBeGreaterThan(0)
}, 90_000)
