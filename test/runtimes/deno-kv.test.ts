import { expect, test } from '@jest/globals'
import { runtimeBinary } from './runtime-binary.ts'
import { outcomeOf } from './runtime-program.ts'

const ARGS = ['run', '--allow-all', '--unstable-kv', '--no-config', '--no-lock']

test('stores in Deno KV pass the contracts of stores and of backends', async () => {
  const { passed, failed } = await outcomeOf('programs/deno-kv.ts', runtimeBinary('deno'), ARGS)
  expect(failed).toEqual([])
  expect(passed).toBeGreaterThan(45)
}, 120_000)
