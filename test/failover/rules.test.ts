import { afterEach, describe, expect, test } from '@jest/globals'
import type { BackendErrorRule, Limiter } from '@sluice/limiter-core'
import {
  closeBenches,
  closeBreaker,
  type FailoverBench,
  failoverBench,
  openBreaker,
  serverError,
  settled,
} from './flaky-backend.ts'

afterEach(closeBenches)

type FailureMode = (failoverBench: FailoverBench, limiter: Limiter) => Promise<void> | void

/** Ways in which a backend fails to answer. */
const failureModes: Readonly<Record<string, FailureMode>> = {
  rejects: ({ flaky }) => {
    flaky.condition = serverError('OOM')
  },
  throws: ({ flaky }) => {
    flaky.condition = () => {
      throw serverError('OOM')
    }
  },
  'never answers': ({ flaky }) => {
    flaky.condition = 'silent'
  },
  'returns nonsense': ({ flaky }) => {
    flaky.condition = (call) => (call === 'reset' ? Promise.reject(serverError('OOM')) : { nonsense: true })
  },
  'returns undefined': ({ flaky }) => {
    flaky.condition = (call) => (call === 'reset' ? Promise.reject(serverError('OOM')) : Promise.resolve(undefined))
  },
  'has an open breaker': openBreaker,
}

const rules: readonly [BackendErrorRule | undefined, string][] = [
  [undefined, '+local +local +local +local -local'],
  ['local', '+local +local +local +local -local'],
  [{ local: { share: 0.5 } }, '+local +local -local -local -local'],
  ['allow', '+allow +allow +allow +allow +allow'],
  ['deny', '-deny -deny -deny -deny -deny'],
]

describe.each(Object.entries(failureModes))('with a backend that %s', (_name, fail) => {
  test.each(rules)('the rule %j answers a take', async (rule, expected) => {
    const one = failoverBench()
    const limiter = one.limiter(rule)
    await fail(one, limiter)
    expect(await one.takes(limiter, 5)).toBe(expected)
  })

  test.each(rules)('the rule %j answers a peek, which changes nothing', async (rule, expected) => {
    const one = failoverBench()
    const limiter = one.limiter(rule)
    await fail(one, limiter)
    const [first] = expected.split(' ')
    for (let peeks = 0; peeks < 3; peeks++) {
      const { allowed, counted, source } = await one.answered(limiter.peek('key'))
      expect(`${allowed ? '+' : '-'}${source} ${counted}`).toBe(`${first} false`)
    }
    expect(await one.takes(limiter, 5)).toBe(expected)
  })

  test.each(rules)('the rule %j accepts a charge without an error', async (rule) => {
    const one = failoverBench()
    const limiter = one.limiter(rule)
    const taken = await one.answered(limiter.take('key'))
    await fail(one, limiter)
    expect(await one.answered(limiter.charge('key', 2, taken))).toMatchObject({ counted: false })
    expect(await one.answered(limiter.charge('key', -1, taken))).toMatchObject({ counted: false })
  })

  test('a charge counts locally on top of the known usage of the key', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    const taken = await one.answered(limiter.take('key'))
    await fail(one, limiter)
    await one.answered(limiter.charge('key', 2, taken))
    expect(await one.takes(limiter, 2)).toBe('+local -local')
  })

  test('a refund of a take that the rule decided is applied locally', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await fail(one, limiter)
    const taken = await one.answered(limiter.take('key', 4))
    await one.answered(limiter.charge('key', -3, taken))
    expect(await one.takes(limiter, 4)).toBe('+local +local +local -local')
  })

  test('a refund of an uncounted take adds nothing, not even under a rule that counts nothing', async () => {
    const one = failoverBench()
    const allowing = one.limiter('allow')
    await one.takes(allowing, 3)
    await fail(one, allowing)
    const uncounted = await one.answered(allowing.take('key'))
    await one.answered(allowing.charge('key', -3, uncounted))
    const here = one.limiter('local')
    expect(await one.takes(here, 2)).toBe('+local -local')
  })

  test('a reset applies locally at once, and to the backend when it answers again', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    await fail(one, limiter)
    await one.answered(limiter.reset('key'))
    expect((await one.answered(limiter.take('key'))).allowed).toBe(true)
    await closeBreaker(one, limiter)
    await one.answered(limiter.take('of the breaker'))
    await settled()
    expect((await one.answered(limiter.peek('key'))).binding.remaining).toBe(4)
  })
})

describe('the rules', () => {
  test('allow reports unlimited units, and deny a second to wait', async () => {
    const one = failoverBench()
    one.flaky.condition = serverError('OOM')
    const allowed = await one.limiter('allow').take('key')
    expect(allowed.binding).toMatchObject({ allowed: true, remaining: Number.POSITIVE_INFINITY, retryAfterMs: 0 })
    const denied = await one.limiter('deny').take('key')
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1_000, counted: false, source: 'deny' })
    expect(JSON.parse(JSON.stringify(denied))).toMatchObject({ source: 'deny', counted: false })
  })

  test('a policy in shadow mode never denies, whatever the rule', async () => {
    const one = failoverBench()
    one.flaky.condition = serverError('OOM')
    const decision = await one.limiter('deny', { mode: 'shadow' }).take('key')
    expect([decision.allowed, decision.verdicts[0].allowed, decision.verdicts[0].shadow]).toEqual([true, false, true])
  })

  test('decisions that are not counted reach observers', async () => {
    const one = failoverBench()
    one.flaky.condition = serverError('OOM')
    await one.takes(one.limiter('deny'), 2)
    expect(one.watcher.decisions.map(({ counted, source }) => [counted, source])).toEqual([
      [false, 'deny'],
      [false, 'deny'],
    ])
  })

  test('a denial by the local rule has the correct retry time', async () => {
    const one = failoverBench()
    const limiter = one.limiter()
    await one.takes(limiter, 4)
    one.flaky.condition = serverError('OOM')
    one.clock.advance(20_000)
    expect(await limiter.take('key')).toMatchObject({ allowed: false, retryAfterMs: 40_000 })
    one.clock.advance(39_999)
    expect((await limiter.take('key')).allowed).toBe(false)
    one.clock.advance(1)
    expect((await limiter.take('key')).allowed).toBe(true)
  })
})
