import { expect, test } from '@jest/globals'
import {
  type Answer,
  algorithms,
  type Backend,
  type Charge,
  createLimiter,
  GroupedBackend,
  memoryBackend,
} from '@sluice/limiter-core'

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

// what the memory had taken stood, though the request as a whole was not counted
test.each([
  ['throws', down],
  ['rejects', rejects],
])('the memory has its units back where another backend beside it %s', async (_how, fail) => {
  const memory: Backend<Answer> = memoryBackend()
  const [near, far] = ['near', 'far'].map((name): Charge => {
    const step = algorithms['sliding-window'].compile({ name, algorithm: 'sliding-window', limit: 5, windowMs: 60_000 })
    return { key: 'key', step, count: `api/${name}/sliding-window@1`, cost: 1 }
  })
  const both = new GroupedBackend(
    new Map([
      [near.step, memory],
      [far.step, broken(fail)],
    ]),
  )
  await expect((async () => both.take([near, far]))()).rejects.toThrow('down')
  expect(memory.peek([near]).verdicts[0].remaining).toBe(5)
})

test.each([
  ['throws', down],
  ['rejects', rejects],
])('a limiter has an answer for the policy whose backend %s, and what the memory took stands', async (_how, fail) => {
  const near = { name: 'near', limit: 5, window: '1m', backend: memoryBackend() } as const
  const far = { name: 'far', limit: 5, window: '1m', backend: broken(fail) } as const
  const limiter = createLimiter({ scope: 'api', policies: [near, far] })
  const decision = await limiter.take('key')
  expect(decision).toMatchObject({ allowed: true, counted: false, countedEach: [true, false], source: 'memory+local' })
  expect(decision.verdicts.map(({ remaining }) => remaining)).toEqual([4, 4])
})
