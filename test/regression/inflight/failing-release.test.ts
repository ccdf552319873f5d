import { expect, test } from '@jest/globals'
import { runProgram } from '../../leaks/program.ts'

test('a permit backend whose releases fail ends no process, and each of the eight limiters warns once', async () => {
  expect(await runProgram('failing-releases')).toEqual(Array(8).fill('SLUICE_BACKEND_FAILED'))
})
