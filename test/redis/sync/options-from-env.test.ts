import { expect, test } from '@jest/globals'
import { syncedOptionsFromEnv } from '@sluice/redis'

test('an empty environment leaves all options at their defaults', () => {
  expect(syncedOptionsFromEnv('X_', {})).toEqual({ policy: {}, options: {} })
  expect(syncedOptionsFromEnv('X_', { X_LIMIT: '', X_TICK: ' ' })).toEqual({ policy: {}, options: {} })
})

test('reads the policy, the options and limits of single keys', () => {
  const environment = {
    X_LIMIT: '6000',
    X_WINDOW: '1m',
    X_TICK: '2s',
    X_GAP: '100ms',
    X_BURST: '0.5',
    X_NODES: '20',
    X_COUNT: 'all',
    X_OVERRIDES: 'big=100000, team:a=b=5,',
    Y_LIMIT: '1',
  }
  const { policy, options } = syncedOptionsFromEnv('X_', environment)
  expect(policy).toMatchObject({ limit: 6_000, window: '1m' })
  expect(policy.overrides).toBeDefined()
  expect(options).toEqual({ tickMs: '2s', gapMs: '100ms', burst: 0.5, nodes: 20, count: 'all' })
})

test('one error names every malformed variable', () => {
  const environment = { X_LIMIT: 'many', X_TICK: 'soon', X_OVERRIDES: 'a=1,b,c=x', X_NODES: '2', X_COUNT: 'some' }
  const read = () => syncedOptionsFromEnv('X_', environment)
  const wrong = { X_LIMIT: ['many'], X_TICK: ['soon'], X_OVERRIDES: ['b', 'c=x'], X_COUNT: ['some'] }
  for (const [name, texts] of Object.entries(wrong)) {
    for (const text of texts) expect(read).toThrow(new RegExp(`${name}: expected [^;]+, received "${text}"`))
  }
})

test('a limit that is invalid for every policy is rejected when it is read', () => {
  for (const limit of ['0', '-1', '1.5', '1e400']) {
    expect(() => syncedOptionsFromEnv('X_', { X_LIMIT: limit })).toThrow(
      `X_LIMIT: expected an integer of at least 1, received "${limit}"`,
    )
  }
})

test('a value that every backend would reject is rejected, too', () => {
  expect(() => syncedOptionsFromEnv('X_', { X_BURST: '2' })).toThrow(
    /SLUICE_BAD_OPTION.*burst: expected .+, received 2/,
  )
})
