import { describe, expect, test } from '@jest/globals'
import { frameworks } from './frameworks/frameworks.ts'
import { runProgram } from './program.ts'

describe.each(Object.keys(frameworks))('%s', (name) => {
  test('retains no request data after the response, and settles within the async context of the request', async () => {
    expect(await runProgram('retained-stores', name)).toEqual({ collected: true, strangers: 0, distinct: 200 })
  })
})

test('permits are released even if listeners of the application throw before ours', async () => {
  const { held, caught } = (await runProgram('throwing-listeners')) as { held: Record<string, number>; caught: number }
  expect(Object.entries(held).filter(([, count]) => count !== 0)).toEqual([])
  expect(caught).toBeGreaterThan(0)
})
