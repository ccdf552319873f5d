import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  type Answer,
  type Backend,
  type CompiledPolicy,
  type Counter,
  createLimiter,
  memoryBackend,
} from '@sluice/limiter-core'
import { frontBackend } from '../contracts/front-backend.ts'
import { closeBenches, failoverBench, settled } from './flaky-backend.ts'

const unhandled: unknown[] = []
const hear = (reason: unknown): number => unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', hear)
})
afterEach(async () => {
  await settled()
  process.off('unhandledRejection', hear)
  closeBenches()
  expect(unhandled).toEqual([])
})

/** Answers that a third-party backend might return. */
const answers: Readonly<Record<string, () => unknown>> = {
  'a thenable that calls back twice': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then(came: (value: unknown) => void, failed: (error: unknown) => void) {
      failed(new Error('first'))
      came('second')
      throw new Error('third')
    },
  }),
  'a thenable that never calls back': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then() {},
  }),
  'a thenable whose then throws': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    get then() {
      throw new Error('then')
    },
  }),
  'a promise of a thenable that never calls back': () =>
    Promise.resolve({
      // biome-ignore lint/suspicious/noThenProperty: it is what is tested
      then() {},
    }),
  'a promise that rejects late': () => new Promise((_, reject) => setImmediate(reject, new Error('late'))),
  'an answer whose verdicts throw': () => ({
    get verdicts() {
      throw new Error('verdicts')
    },
  }),
  'an answer without verdicts': () => Promise.resolve({ verdicts: undefined, takenAt: 0 }),
  'a rejection with what throws when looked at': () =>
    Promise.reject(
      new Proxy(
        {},
        {
          get() {
            throw new Error('proxy')
          },
        },
      ),
    ),
  null: () => null,
}

describe.each(Object.entries(answers))('a backend that returns %s', (_name, answer) => {
  test('is answered by the rule in every call, with no further effect', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = answer
    const pending = [
      limiter.take('key'),
      limiter.take({ default: 'key' }),
      limiter.peek('key'),
      limiter.charge('key', 1),
      limiter.reset('key'),
    ]
    // the first take waits for the deadline, because only this shows that `then` never calls back
    await Promise.resolve()
    one.clock.advance(50)
    const decisions = (await Promise.all(pending)).slice(0, 4)
    for (const decision of decisions) expect(decision).toMatchObject({ counted: false, source: 'local' })
  })

  test('changes no answer if a probe receives it', async () => {
    const one = failoverBench()
    const limiter = one.limiter('deny')
    one.flaky.condition = () => {
      throw new Error('down')
    }
    for (let failed = 0; failed < 10; failed++) await limiter.take('key')
    one.flaky.condition = answer
    one.clock.advance(1_000)
    expect(await one.takes(limiter, 2)).toBe('-deny -deny')
    await settled()
  })
})

describe('invalid numbers', () => {
  test.each([
    [{ remaining: Number.NaN, resetAfterMs: 1 }],
    [{ remaining: 0, resetAfterMs: Number.POSITIVE_INFINITY }],
    [{ remaining: 0, resetAfterMs: Number.NaN }],
    [{ remaining: 99, resetAfterMs: 5 }],
    [{ remaining: undefined, resetAfterMs: 5 }],
  ])('in an answer are not remembered for the key: %j', async (numbers) => {
    const one = failoverBench()
    const limiter = one.limiter()
    one.flaky.condition = () => ({
      verdicts: [{ policy: limiter.policies[0], shadow: false, allowed: true, retryAfterMs: 0, ...numbers }],
      takenAt: 0,
      counted: true,
      source: 'broken',
    })
    expect(await limiter.take('key')).toMatchObject({ counted: false, source: 'local' })
    one.flaky.condition = () => Promise.reject(new Error('down'))
    // this take received an invalid answer, so it was counted locally
    expect(await one.takes(limiter, 4)).toBe('+local +local +local -local')
  })
})

describe('a custom backend that answers synchronously', () => {
  test('gives synchronous decisions that are counted', () => {
    const one = failoverBench()
    const memory = memoryBackend({ clock: one.clock })
    const backend = frontBackend('quick', memory)
    const limiter = createLimiter({ policies: [{ limit: 1, window: '1m' }], backend, clock: one.clock })
    expect([limiter.take('key').allowed, limiter.take('key').allowed, limiter.peek('key').counted]).toEqual([
      true,
      false,
      true,
    ])
    expect(one.clock.pending).toBe(0)
  })

  test('may have a faster method for single charges, which is then used', async () => {
    const one = failoverBench()
    const memory = memoryBackend({ clock: one.clock })
    const asked: unknown[][] = []
    const backend = {
      name: 'quick',
      open(compiled: CompiledPolicy, name: string): Counter<Answer> {
        const counter = memory.open(compiled, name)
        const take: typeof counter.take = (...args) => {
          asked.push(args)
          return counter.take(...args)
        }
        return Object.create(counter, { take: { value: take } })
      },
      takeAll: memory.takeAll.bind(memory),
      peekAll: memory.peekAll.bind(memory),
      adjustAll: memory.adjustAll.bind(memory),
      resetAll: memory.resetAll.bind(memory),
    } satisfies Backend<Answer>
    const limiter = createLimiter({ policies: [{ limit: 1, window: '1m' }], backend, clock: one.clock })
    expect([limiter.take('key').allowed, limiter.take('key').allowed]).toEqual([true, false])
    expect(asked.length).toBe(2)
  })
})
