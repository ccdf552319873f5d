import { expect, test } from '@jest/globals'
import { complaintsOf } from '../docs/testing-nest-blocks.ts'

test('the tests of Nest type-check, with the decorators that Nest has', async () => {
  expect(await complaintsOf(['node_modules/typescript/bin/tsc', '-p', 'test/nest/tsconfig.json'])).toBe('')
}, 60_000)
