import { expect, test } from '@jest/globals'
import { childResult } from '../../floods/child.ts'

interface Left {
  readonly bytesEach: number
}

// regression: scopes on the default backend were kept forever, and so were observers of limiters that were never closed
test('a limiter on the default backend leaves less than 32 bytes behind', async () => {
  const { bytesEach } = await childResult<Left>('hostile/children/dropped-limiters.ts', { args: ['default'] })
  expect(bytesEach).toBeLessThan(32)
})

test('a closed limiter with observers leaves less than 32 bytes behind on a shared backend', async () => {
  const { bytesEach } = await childResult<Left>('hostile/children/dropped-limiters.ts', { args: ['observed'] })
  expect(bytesEach).toBeLessThan(32)
})
