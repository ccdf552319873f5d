import { expect, test } from '@jest/globals'
import { type Answer, type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'

const down = (): never => {
  throw new Error('down')
}
const rejects = (): Promise<never> => Promise.reject(new Error('down'))

const broken = (fail: () => never | Promise<never>): Backend => ({
  name: 'broken',
  synchronous: true,
  take: fail,
  peek: fail,
  adjust: fail,
  reset: fail,
})

// what the memory had taken stood, though the request as a whole was not counted: one that says it answers at once has
// no failure rule before it
test.each([
  ['throws', down],
  ['rejects', rejects],
])('the memory has its units back where the backend of another policy %s', async (_how, fail) => {
  const memory: Backend<Answer> = memoryBackend()
  const near = { name: 'near', limit: 5, window: '1m', backend: memory } as const
  const far = { name: 'far', limit: 5, window: '1m', backend: broken(fail) } as const
  const limiter = createLimiter({ scope: 'api', policies: [near, far] })
  await expect((async () => limiter.take('key'))()).rejects.toThrow('down')
  const alone = createLimiter({ scope: 'api', policies: [near] })
  expect((await alone.peek('key')).binding.remaining).toBe(5)
})
