import { expect, test } from '@jest/globals'
import { compile } from '../compiler.ts'

test('the Nest tests type-check with legacy decorators', async () => {
  expect(await compile('test/nest/tsconfig.json')).toBe('')
})
