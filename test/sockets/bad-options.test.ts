import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { rateLimit as expressRateLimit } from '@sluice/express'
import {
  type ContinueGuardOptions,
  guardContinue,
  inflightLimit,
  limitConnections,
  limitUpgrade,
  rateLimit,
} from '@sluice/node-http'

/** Untyped, as JavaScript would call it. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Untyped = (...args: any[]) => unknown

const upgrade = limitUpgrade as Untyped
const guard = guardContinue as Untyped
const connections = limitConnections as Untyped
const policy = { limit: 1, window: '1m' } as const
const server = createServer()
const listening = createServer().on('checkContinue', () => {})
const cap = { limit: 1 }

const refused: readonly (readonly [string, string, () => unknown])[] = [
  ['limitUpgrade without options', 'SLUICE_BAD_OPTION', () => upgrade()],
  ['limitUpgrade without a limit', 'SLUICE_BAD_OPTION', () => upgrade({})],
  ['limitUpgrade with a bare policy', 'SLUICE_BAD_OPTION', () => upgrade(policy)],
  ['limitUpgrade with a rate of 0', 'SLUICE_BAD_LIMIT', () => upgrade({ rateLimit: { limit: 0, window: '1m' } })],
  ['limitUpgrade with a rate that is false', 'SLUICE_BAD_OPTION', () => upgrade({ rateLimit: false })],
  ['limitUpgrade with a shed option that is unknown', 'SLUICE_BAD_OPTION', () => upgrade({ shed: { limit: 3 } })],
  ['limitUpgrade with a cap that is null', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: null })],
  ['limitUpgrade with an empty array of caps', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: [] })],
  ['limitUpgrade with two caps of one name', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: [cap, cap] })],
  [
    'limitUpgrade with a cap and holdUntil',
    'SLUICE_BAD_OPTION',
    () => upgrade({ inflightLimit: { limit: 1, holdUntil: 'handler' } }),
  ],
  ['limitUpgrade with an invalid listener', 'SLUICE_BAD_OPTION', () => upgrade({ rateLimit: policy }, 'ws')],
  ['guardContinue without a server', 'SLUICE_BAD_OPTION', () => guard({ rateLimit: policy })],
  ['guardContinue of null', 'SLUICE_BAD_OPTION', () => guard(null, { rateLimit: policy })],
  ['guardContinue without options', 'SLUICE_BAD_OPTION', () => guard(server)],
  ['guardContinue without a limit', 'SLUICE_BAD_OPTION', () => guard(server, {})],
  ['guardContinue with a bare policy', 'SLUICE_BAD_OPTION', () => guard(server, policy)],
  ['guardContinue with a rate that is false', 'SLUICE_BAD_OPTION', () => guard(server, { rateLimit: false })],
  [
    'guardContinue with a function that is not a limiter',
    'SLUICE_BAD_OPTION',
    () => guard(server, { rateLimit: () => {} }),
  ],
  ['guardContinue with a cap of 0', 'SLUICE_BAD_LIMIT', () => guard(server, { inflightLimit: { limit: 0 } })],
  [
    'guardContinue next to another checkContinue listener',
    'SLUICE_BAD_OPTION',
    () => guard(listening, { rateLimit: policy }),
  ],
  ['limitConnections without a server', 'SLUICE_BAD_OPTION', () => connections({ limit: 1 })],
  ['limitConnections of null', 'SLUICE_BAD_OPTION', () => connections(null, { limit: 1 })],
  ['limitConnections without options', 'SLUICE_BAD_OPTION', () => connections(server)],
  ['limitConnections without a limit', 'SLUICE_BAD_LIMIT', () => connections(server, {})],
  [
    'limitConnections with a status, which no client would receive',
    'SLUICE_BAD_OPTION',
    () => connections(server, { limit: 1, status: 503 }),
  ],
  [
    'limitConnections with a key that is not a function',
    'SLUICE_BAD_OPTION',
    () => connections(server, { limit: 1, key: 'ip' }),
  ],
  [
    'limitConnections with a name that is invalid in a header',
    'SLUICE_BAD_NAME',
    () => connections(server, { limit: 1, name: 'ü' }),
  ],
  ['limitConnections in an unknown mode', 'SLUICE_BAD_OPTION', () => connections(server, { limit: 1, mode: 'on' })],
]

describe('an invalid socket option', () => {
  test.each(refused)('is rejected at start-up: %s', (_what, code, build) => {
    const error = caught(build)
    expect({ code: error.code, message: error.message }).toEqual({
      code,
      message: expect.stringMatching(/expected .+, received .+/),
    })
  })

  test('adds no listener to the server', () => {
    expect([server.listenerCount('checkContinue'), server.listenerCount('connection')]).toEqual([
      0,
      createServer().listenerCount('connection'),
    ])
  })
})

test('framework limiters are not accepted for a plain server, also at compile time', () => {
  const ofExpress = expressRateLimit(policy)
  // @ts-expect-error its keys and hooks expect Express requests
  const options: ContinueGuardOptions = { rateLimit: ofExpress }
  expect(options.rateLimit).toBe(ofExpress)
})

test('existing limiters are accepted by guardContinue', () => {
  const guarded = guardContinue(server, { rateLimit: rateLimit(policy), inflightLimit: inflightLimit(cap) })
  expect(server.listenerCount('checkContinue')).toBe(1)
  guarded.close()
})

function caught(build: () => unknown): { code?: unknown; message?: unknown } {
  try {
    build()
  } catch (error) {
    return error as { code?: unknown; message?: unknown }
  }
  return {}
}
