import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter } from '@sluice/limiter-core'

const coded = expect.objectContaining({ code: expect.stringMatching(/^SLUICE_/) })

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return 'accepted'
}

const policy = { limit: 1, window: '1m' }

describe('createLimiter rejects', () => {
  test.each<[string, object]>([
    ['a misspelt mode', { mode: 'shadwo', policies: [policy] }],
    ['a mode that is a symbol', { mode: Symbol('shadow'), policies: [policy] }],
    ['a policy that is null', { policies: [null] }],
    ['a sparse list of policies', { policies: new Array(1) }],
    ['a clock without its functions', { clock: {}, policies: [policy] }],
    ['a clock that is a number', { clock: 5, policies: [policy] }],
    ['a clock that is 0', { clock: 0, policies: [policy] }],
    ['an algorithm in a list', { policies: [{ ...policy, algorithm: ['gcra'] }] }],
    ['an algorithm that is an object', { policies: [{ ...policy, algorithm: { toString: null } }] }],
  ])('%s', (_what, options) => {
    expect(thrownBy(() => createLimiter(options as never))).toEqual(coded)
  })
})

describe('rateLimit rejects', () => {
  test.each<[string, object]>([
    ['a misspelt mode', { ...policy, mode: 'shadwo' }],
    ['a skip that is not a function', { ...policy, skip: 'yes' }],
    ['plans that are not lists', { plans: { free: 'x' }, plan: () => 'free' }],
    ['a plan that is null', { plans: { free: null }, plan: () => 'free' }],
    ['a policy of a plan that is null', { plans: { free: [null] }, plan: () => 'free' }],
    ['a policy that is null', { policies: [null] }],
  ])('%s', (_what, options) => {
    expect(thrownBy(() => new RateGate(options as never))).toEqual(coded)
  })
})
