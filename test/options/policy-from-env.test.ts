import { describe, expect, test } from '@jest/globals'
import { createLimiter, policyFromEnv } from '@sluice/limiter-core'

const defaults = { name: 'api', limit: 100, window: '1m' } as const

describe('policyFromEnv', () => {
  test('returns the defaults if no variable is set', () => {
    expect(policyFromEnv('API_', defaults, {})).toEqual(defaults)
    expect(policyFromEnv('API_', defaults, { API_LIMIT: '', API_WINDOW: ' ', OTHER_LIMIT: '3' })).toEqual(defaults)
  })

  test('replaces what the variables set, and keeps other options', async () => {
    const key = (): string => 'one'
    const environment = {
      API_LIMIT: '3',
      API_WINDOW: '1w',
      API_ALGORITHM: 'gcra',
      API_BURST: '2',
      API_MODE: 'shadow',
      API_OVERRIDES: 'big=900',
      API_KEY: 'a secret of another part',
    }
    const { overrides, ...rest } = policyFromEnv('API_', { ...defaults, key }, environment)
    expect(rest).toEqual({ name: 'api', limit: 3, window: '1w', algorithm: 'gcra', burst: 2, mode: 'shadow', key })
    expect(overrides?.limitOf('big')).toBe(900)
    const { slices } = policyFromEnv('', defaults, { SLICES: '6' })
    expect(slices).toBe(6)
  })

  test('reads the environment of the process by default', () => {
    process.env.SLUICE_TEST_LIMIT = '7'
    try {
      expect(policyFromEnv('SLUICE_TEST_', defaults).limit).toBe(7)
    } finally {
      delete process.env.SLUICE_TEST_LIMIT
    }
  })

  test('throws one error that names every invalid variable', () => {
    const environment = { API_LIMIT: '1.5', API_WINDOW: 'soon', API_ALGORITHM: 'fast', API_BURST: 'x', API_MODE: 'on' }
    for (const [name, text] of Object.entries(environment)) {
      expect(() => policyFromEnv('API_', defaults, environment)).toThrow(
        new RegExp(`SLUICE_BAD_OPTION.*${name}: expected [^;]+, received "${text}"`),
      )
    }
  })

  test('throws if the policy that results is invalid', () => {
    const environment = { API_ALGORITHM: 'sliding-log', API_LIMIT: '500' }
    expect(() => policyFromEnv('API_', defaults, environment)).toThrow(/SLUICE_BAD_POLICY.*sliding-log/)
    expect(() => policyFromEnv('API_', { limit: 100 } as never, {})).toThrow(/SLUICE_BAD_DURATION.*window/)
    expect(() => policyFromEnv(7 as never, defaults, {})).toThrow(/SLUICE_BAD_OPTION.*prefix/)
  })

  test('is accepted by limiters', async () => {
    const limiter = createLimiter(policyFromEnv('API_', defaults, { API_LIMIT: '1' }))
    expect([(await limiter.take('a')).allowed, (await limiter.take('a')).allowed]).toEqual([true, false])
    limiter.close()
  })
})
