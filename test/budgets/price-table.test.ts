import { expect, test } from '@jest/globals'
import type { SluiceError } from '@sluice/limiter-core'
import { type PriceTable, priceTable } from '@sluice/quotas/budgets'
import { eachSeed } from '@sluice/testkit'

function table(): PriceTable {
  return priceTable({
    currency: 'USD',
    items: { 'gpt-x': { input: '2.50', output: '10', cachedInput: '1.25' }, tiny: { input: '0.000001' } },
  })
}

function codeOf(run: () => unknown): string {
  try {
    return `no error: ${run()}`
  } catch (error) {
    return `${(error as SluiceError).code}: ${(error as Error).message}`
  }
}

test('costs are whole millionths of the currency, rounded up once', () => {
  const prices = table()
  expect(prices.unit).toBe('micro-usd')
  expect(prices.costOf('gpt-x', { input: 1_000_000 })).toBe(2_500_000)
  expect(prices.costOf('gpt-x', { input: 1_200, output: 300, cachedInput: 40 })).toBe(3_000 + 3_000 + 50)
  // 2.5 and 1.25 millionths: 3.75 in total
  expect(prices.costOf('gpt-x', { input: 1, cachedInput: 1 })).toBe(4)
  expect(prices.costOf('tiny', { input: 1 })).toBe(1)
  expect(prices.costOf('tiny', {})).toBe(0)
  expect([prices.has('gpt-x'), prices.has('toString')]).toEqual([true, false])
  expect(prices.amount('25.00')).toBe(25_000_000)
})

test('costs have no rounding errors of floating-point numbers', () => {
  const prices = priceTable({ currency: 'EUR', per: 1_000, items: { a: { call: '0.1', token: '0.7' } } })
  expect(prices.costOf('a', { call: 3_000 })).toBe(300_000)
  expect(prices.costOf('a', { call: 1, token: 2 })).toBe(1_500)
  expect(prices.costOf('a', { token: 9_007_199_254_741 })).toBe(6_305_039_478_318_700)
  expect(priceTable({ currency: 'EUR', per: 1, items: { a: { call: '999999' } } }).costOf('a', { call: 1e12 })).toBe(
    Number.MAX_SAFE_INTEGER,
  )
})

test('the cost of two requests is never less than their cost together', () =>
  eachSeed(20, (random) => {
    const prices = table()
    for (let times = 0; times < 200; times++) {
      const [one, other] = [0, 0].map(() => ({ input: random.whole(1e9), output: random.whole(1e6) }))
      const both = { input: one.input + other.input, output: one.output + other.output }
      const apart = prices.costOf('gpt-x', one) + prices.costOf('gpt-x', other)
      expect(apart - prices.costOf('gpt-x', both)).toBeGreaterThanOrEqual(0)
      expect(apart - prices.costOf('gpt-x', both)).toBeLessThanOrEqual(1)
    }
  }))

test('bad options and bad usage have coded errors', () => {
  const prices = table()
  const errors = [
    () => priceTable({ currency: 'usd', items: {} }),
    () => priceTable({ currency: 'USD', per: 0, items: {} }),
    () => priceTable({ currency: 'USD', items: { a: { input: 2.5 as never } } }),
    () => priceTable({ currency: 'USD', items: { a: { input: '1.0000001' } } }),
    () => priceTable({ currency: 'USD', items: { a: { input: '-1' } } }),
    () => priceTable({ currency: 'USD', items: { a: null as never } }),
    () => priceTable({ currency: 'USD', items: undefined as never }),
    () => prices.amount('1e3'),
    () => prices.costOf('gpt-y', {}),
    () => prices.costOf('gpt-x', { audio: 1 }),
    () => prices.costOf('gpt-x', { input: 0.5 }),
    () => prices.costOf('gpt-x', { input: -1 }),
  ].map((run) => codeOf(run).split(':')[0])
  expect(errors).toEqual([...Array(8).fill('SLUICE_BAD_OPTION'), ...Array(4).fill('SLUICE_BAD_COST')])
})
