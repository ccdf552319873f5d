import { expect, test } from '@jest/globals'
import { frameworks } from '../../leaks/frameworks.ts'
import { runProgram } from '../../leaks/program.ts'

test('a handler that waits for what its abandoned response cannot bring keeps no place once it is collected', async () => {
  const nothingHeld = Object.fromEntries(Object.keys(frameworks).map((name) => [name, 0]))
  expect(await runProgram('abandoned-waits')).toEqual(nothingHeld)
}, 60_000)
