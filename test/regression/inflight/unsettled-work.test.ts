import { expect, test } from '@jest/globals'
import { frameworks } from '../../leaks/frameworks/frameworks.ts'
import { runProgram } from '../../leaks/program.ts'

test('a handler that waits forever for its abandoned response holds no permit after it is garbage-collected', async () => {
  const nothingHeld = Object.fromEntries(Object.keys(frameworks).map((name) => [name, 0]))
  expect(await runProgram('abandoned-waits')).toEqual(nothingHeld)
})
