import { expect, test } from '@jest/globals'
import { complaintsOf } from '../docs/testing-nest-blocks.ts'

test('the Nest tests type-check with legacy decorators', async () => {
  expect(await complaintsOf(['node_modules/typescript/bin/tsc', '-p', 'test/nest/tsconfig.json'])).toBe('')
}, 60_000)
