import { expect, test } from '@jest/globals'
import { limitCases } from './scenes.ts'
import { play } from './virtual-upstream.ts'

test.each(limitCases)(
  '50 callers use $name with $fields, and are hardly refused',
  async ({ name, fields, shape, announce }) => {
    const scene = { limit: 100, windowMs: 60_000, callers: 50, minutes: 10, announce, ...shape }
    const { accepted, refused, perCaller, rejected, most } = await play(scene)
    const share = refused / (accepted + refused)
    console.log(
      `${name}, ${fields}: accepted ${accepted} of ${most}, refused ${refused} (${(100 * share).toFixed(2)} %), ` +
        `per caller ${Math.min(...perCaller)} to ${Math.max(...perCaller)}`,
    )
    expect(share).toBeLessThanOrEqual(0.01)
    expect(accepted).toBeGreaterThanOrEqual(970)
    expect(rejected).toBe(0)
    expect(Math.min(...perCaller)).toBeGreaterThanOrEqual(0.8 * Math.max(...perCaller))
  },
)

test('tests of a higher rate cost few refusals', async () => {
  const scene = { shape: 'fixed', limit: 1_000, windowMs: 60_000, callers: 200, minutes: 5 } as const
  const { accepted, refused } = await play(scene)
  expect(accepted).toBeGreaterThanOrEqual(4_850)
  expect(refused / accepted).toBeLessThanOrEqual(0.01)
})
