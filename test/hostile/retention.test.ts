import { expect, test } from '@jest/globals'
import { childResult } from '../floods/child.ts'

test('neither the table nor the sweep of permits retains the async context of a request', async () => {
  const script = 'hostile/children/retained-contexts.ts'
  expect(await childResult(script)).toEqual({ requests: 50, kept: 0 })
})
