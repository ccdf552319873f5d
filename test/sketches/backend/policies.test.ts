import { describe, expect, test } from '@jest/globals'
import { createLimiter, memoryBackend, type PolicyInput } from '@sluice/limiter-core'
import { type SketchBackendOptions, sketchBackend } from '@sluice/sketches/limits'
import { codeOf } from '../contract/sketch-contract.ts'

const history: SketchBackendOptions = { history: { unit: '1s', keep: '1h' } }
const perMinute: PolicyInput = { limit: 10, window: '1m' }

/** Returns the message of the error that building a limiter throws. */
function refusal(options: SketchBackendOptions, ...policies: PolicyInput[]): string {
  try {
    createLimiter({ policies, backend: sketchBackend(options) })
    return 'kept'
  } catch (error) {
    return (error as Error).message
  }
}

describe('a policy that a sketchBackend does not support is rejected when the limiter is built', () => {
  test.each<[string, SketchBackendOptions, PolicyInput, RegExp]>([
    ['a log', {}, { ...perMinute, algorithm: 'sliding-log' }, /SLUICE_BAD_POLICY: .* received sliding-log/],
    ['a bucket', {}, { ...perMinute, algorithm: 'token-bucket' }, /SLUICE_BAD_POLICY: .* received token-bucket/],
    ['gcra', {}, { ...perMinute, algorithm: 'gcra' }, /SLUICE_BAD_POLICY: .* received gcra/],
    [
      'slices that differ from the slots',
      {},
      { ...perMinute, slices: 3 },
      /SLUICE_BAD_POLICY: .* 1 or 2 slices .* received slices: 3/,
    ],
    [
      'a limit above the cell capacity',
      {},
      { ...perMinute, limit: 65_535 },
      /SLUICE_BAD_POLICY: .* at most 65534.*cells: 32/,
    ],
    [
      'a limit above 8 bits',
      { cells: 8 },
      { ...perMinute, limit: 255 },
      /SLUICE_BAD_POLICY: .* expected a limit of at most 254 with cells of 8 bits, received 255/,
    ],
    [
      'a fixed window with a history',
      history,
      { ...perMinute, algorithm: 'fixed-window' },
      /SLUICE_BAD_POLICY: .* the only one that a history supports/,
    ],
    [
      'a window longer than the history',
      history,
      { ...perMinute, window: '2h' },
      /SLUICE_BAD_POLICY: .* at most 3600000 ms/,
    ],
    [
      'a window that is not a multiple of the unit',
      history,
      { ...perMinute, window: '1500ms' },
      /SLUICE_BAD_POLICY: .* multiple of 1000/,
    ],
  ])('%s', (_what, options, policy, message) => {
    expect(refusal(options, policy)).toMatch(message)
  })

  test('rejects a second window without a history', () => {
    const two: PolicyInput[] = [perMinute, { ...perMinute, name: 'hour', window: '1h' }]
    expect(refusal({}, ...two)).toMatch(
      /SLUICE_BAD_POLICY: policy 'hour': expected a window of .* received 3600000 ms; use the history option/,
    )
    expect(refusal(history, ...two)).toBe('kept')
  })

  test('does not reserve its name: the next limiter can use the name', () => {
    const backend = sketchBackend()
    const options = { backend, scope: 'shop' }
    const bad = { ...perMinute, name: 'bad', algorithm: 'gcra' } as const
    expect(codeOf(() => createLimiter({ ...options, policies: [perMinute, bad] }))).toBe('SLUICE_BAD_POLICY')
    expect(codeOf(() => createLimiter({ ...options, policies: [{ ...perMinute, limit: 20 }] }))).toBe('nothing')
  })

  test('is also rejected among policies on several backends', () => {
    const log = { ...perMinute, name: 'log', algorithm: 'sliding-log', backend: sketchBackend() } as const
    const build = () => createLimiter({ policies: [perMinute, log], backend: memoryBackend() })
    expect(codeOf(build)).toBe('SLUICE_BAD_POLICY')
  })
})

describe('invalid options are rejected when the backend is created', () => {
  test.each<[string, unknown, string]>([
    ['an unknown option', { byte: 1 }, 'SLUICE_BAD_OPTION'],
    ['none', null, 'SLUICE_BAD_OPTION'],
    ['too few bytes', { bytes: 65_535 }, 'SLUICE_BAD_OPTION'],
    ['a fraction of a byte', { bytes: 65_536.5 }, 'SLUICE_BAD_OPTION'],
    ['infinite bytes', { bytes: Number.POSITIVE_INFINITY }, 'SLUICE_BAD_OPTION'],
    ['no slots', { slots: 0 }, 'SLUICE_BAD_OPTION'],
    ['too many slots', { slots: 61 }, 'SLUICE_BAD_OPTION'],
    ['cells of 12 bits', { cells: 12 }, 'SLUICE_BAD_OPTION'],
    ['a short seed', { seed: 'short' }, 'SLUICE_BAD_OPTION'],
    ['a number as seed', { seed: 7 }, 'SLUICE_BAD_OPTION'],
    ['a rate of 0', { falseDenialRate: 0 }, 'SLUICE_BAD_OPTION'],
    ['conservative as a string', { conservative: 'yes' }, 'SLUICE_BAD_OPTION'],
    ['slots together with a history', { ...history, slots: 2 }, 'SLUICE_BAD_OPTION'],
    ['an infinite history', { history: { unit: '1s' } }, 'SLUICE_BAD_DURATION'],
    ['a history that is not a multiple of the unit', { history: { unit: '1s', keep: '1500ms' } }, 'SLUICE_BAD_OPTION'],
    [
      'a history that does not fit into the bytes',
      { bytes: 65_536, history: { unit: '1ms', keep: '1d', blocksPerLevel: 64 } },
      'SLUICE_BAD_OPTION',
    ],
    ['an invalid clock', { clock: {} }, 'SLUICE_BAD_OPTION'],
  ])('%s', (_what, options, code) => {
    expect(codeOf(() => sketchBackend(options as SketchBackendOptions))).toBe(code)
  })
})
