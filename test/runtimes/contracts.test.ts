import { describe, expect, test } from '@jest/globals'
import { runtimeBinary } from './runtime-binary.ts'
import { outcomeOf } from './runtime-program.ts'

const TIMEOUT_MS = 120_000

describe.each([
  ['Bun', 'programs/bun.ts', 'bun', ['run']],
  ['Deno', 'programs/deno.ts', 'deno', ['run', '--allow-all', '--no-config', '--no-lock']],
] as const)('%s', (_name, entry, runtime, args) => {
  test(
    'passes the contract of adapters with @sluice/fetch and @sluice/hono',
    async () => {
      const { passed, failed } = await outcomeOf(entry, runtimeBinary(runtime), args)
      expect(failed).toEqual([])
      expect(passed).toBeGreaterThan(280)
    },
    TIMEOUT_MS,
  )
})
