import { expect, test } from '@jest/globals'
import { frameworks } from './frameworks/frameworks.ts'
import { runProgram } from './program.ts'

test('no framework retains request data after the response, and each settles within the async context of the request', async () => {
  const kept = { collected: true, strangers: 0, distinct: 200 }
  const expected = Object.fromEntries(Object.keys(frameworks).map((name) => [name, kept]))
  expect(await runProgram('retained-stores')).toEqual(expected)
})

test('permits are released even if listeners of the application throw before ours', async () => {
  const { held, caught } = (await runProgram('throwing-listeners')) as { held: Record<string, number>; caught: number }
  expect(Object.entries(held).filter(([, count]) => count !== 0)).toEqual([])
  expect(caught).toBeGreaterThan(0)
})
