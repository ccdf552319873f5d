import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Warnings } from '@sluice/testkit'
import { allowed, call, connectLimited, sdks } from '../../mcp/connected.ts'

const unhandled: unknown[] = []
const hear = (reason: unknown): number => unhandled.push(reason)
const warnings = new Warnings()

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', hear)
  warnings.listen()
})
afterEach(() => {
  process.off('unhandledRejection', hear)
  warnings.stop()
})

describe.each(sdks)('$name', (sdk) => {
  test('a rejection of a promise that a principal returns is handled', async () => {
    const principal = (() => Promise.reject(new Error('broken'))) as unknown as () => string
    const { client } = await connectLimited(sdk, { rateLimit: { limit: 2, window: '1m' }, principal })
    expect(await allowed(client, 'search', 3)).toBe(2)
    // rejections are reported after the microtasks of a turn
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(unhandled).toEqual([])
    expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
  })

  test('a call without a tool name does not count as a tool of another principal', async () => {
    const seen: string[] = []
    const names = ['anna:search', 'anna']
    const { client } = await connectLimited(sdk, {
      rateLimit: { limit: 1, window: '1m' },
      principal: () => names.shift(),
      observers: [{ decided: (key) => seen.push(key) }],
    })
    await call(client, '')
    await call(client, 'search')
    expect(new Set(seen).size).toBe(2)
  })
})
