import { expect, test } from '@jest/globals'
import { compile } from '../compiler.ts'
import { writeNestTypes } from '../docs/testing-nest-blocks.ts'

// one compilation, because each checks the types of the packages again
test('the Nest tests and the Nest code of all pages type-check with legacy decorators', async () => {
  expect(await compile(writeNestTypes())).toBe('')
})
