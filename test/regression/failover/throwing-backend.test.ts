import { expect, test } from '@jest/globals'
import { type Answer, type Backend, type Charge, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { GroupedBackend } from '@sluice/limiter-core/backend'
import { failingBackend, openedCounter } from '@sluice/testkit'

const down = (): never => {
  throw new Error('down')
}
const rejects = (): Promise<never> => Promise.reject(new Error('down'))

const broken = (fail: () => never | Promise<never>): Backend => ({
  ...failingBackend(fail, 'broken'),
  synchronous: true,
})

// regression: units taken in memory stayed taken, although the request as a whole was not counted
test.each([
  ['throws', down],
  ['rejects', rejects],
])('the memory backend is refunded if another backend next to it %s', async (_how, fail) => {
  const memory: Backend<Answer> = memoryBackend()
  const away = broken(fail)
  const chargeOf = (backend: Backend, name: string): Charge => {
    const policy = { name, algorithm: 'sliding-window', limit: 5, windowMs: 60_000 } as const
    return { key: 'key', counter: openedCounter(backend, 'api', policy), cost: 1 }
  }
  const [near, far] = [chargeOf(memory, 'near'), chargeOf(away, 'far')]
  const both = new GroupedBackend(
    new Map([
      [near.counter, memory],
      [far.counter, away],
    ]),
  )
  await expect((async () => both.takeAll([near, far]))()).rejects.toThrow('down')
  expect(memory.peekAll([near]).verdicts[0].remaining).toBe(5)
})

test.each([
  ['throws', down],
  ['rejects', rejects],
])('a limiter decides about the policy whose backend %s, and keeps the units taken in memory', async (_how, fail) => {
  const near = { name: 'near', limit: 5, window: '1m', backend: memoryBackend() } as const
  const far = { name: 'far', limit: 5, window: '1m', backend: broken(fail) } as const
  const limiter = createLimiter({ scope: 'api', policies: [near, far] })
  const decision = await limiter.take('key')
  expect(decision).toMatchObject({ allowed: true, counted: false, countedEach: [true, false], source: 'memory+local' })
  expect(decision.verdicts.map(({ remaining }) => remaining)).toEqual([4, 4])
})
