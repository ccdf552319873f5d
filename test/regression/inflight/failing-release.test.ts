import { expect, test } from '@jest/globals'
import { runProgram } from '../../leaks/program.ts'

test('a backend of places that takes none back ends no process, and is warned about once', async () => {
  expect(await runProgram('failing-releases')).toEqual(['SLUICE_BACKEND_FAILED'])
}, 60_000)
