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

/** As JavaScript would call it: no type stands in the way. */
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
  ['limitUpgrade of no limit', 'SLUICE_BAD_OPTION', () => upgrade({})],
  ['limitUpgrade of a policy alone', 'SLUICE_BAD_OPTION', () => upgrade(policy)],
  ['limitUpgrade of a rate of 0', 'SLUICE_BAD_LIMIT', () => upgrade({ rateLimit: { limit: 0, window: '1m' } })],
  ['limitUpgrade of a rate that is false', 'SLUICE_BAD_OPTION', () => upgrade({ rateLimit: false })],
  ['limitUpgrade of a cap that is null', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: null })],
  ['limitUpgrade of an empty list of caps', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: [] })],
  ['limitUpgrade of two caps of one name', 'SLUICE_BAD_OPTION', () => upgrade({ inflightLimit: [cap, cap] })],
  [
    'limitUpgrade of a cap until the handler',
    'SLUICE_BAD_OPTION',
    () => upgrade({ inflightLimit: { limit: 1, holdUntil: 'handler' } }),
  ],
  ['limitUpgrade with a listener that is none', 'SLUICE_BAD_OPTION', () => upgrade({ rateLimit: policy }, 'ws')],
  ['guardContinue of no server', 'SLUICE_BAD_OPTION', () => guard({ rateLimit: policy })],
  ['guardContinue of null', 'SLUICE_BAD_OPTION', () => guard(null, { rateLimit: policy })],
  ['guardContinue without options', 'SLUICE_BAD_OPTION', () => guard(server)],
  ['guardContinue of no limit', 'SLUICE_BAD_OPTION', () => guard(server, {})],
  ['guardContinue of a policy alone', 'SLUICE_BAD_OPTION', () => guard(server, policy)],
  ['guardContinue of a rate that is false', 'SLUICE_BAD_OPTION', () => guard(server, { rateLimit: false })],
  ['guardContinue of a function that is no limiter', 'SLUICE_BAD_OPTION', () => guard(server, { rateLimit: () => {} })],
  ['guardContinue of a cap of 0', 'SLUICE_BAD_LIMIT', () => guard(server, { inflightLimit: { limit: 0 } })],
  [
    'guardContinue beside another checkContinue listener',
    'SLUICE_BAD_OPTION',
    () => guard(listening, { rateLimit: policy }),
  ],
  ['limitConnections of no server', 'SLUICE_BAD_OPTION', () => connections({ limit: 1 })],
  ['limitConnections of null', 'SLUICE_BAD_OPTION', () => connections(null, { limit: 1 })],
  ['limitConnections without options', 'SLUICE_BAD_OPTION', () => connections(server)],
  ['limitConnections without a limit', 'SLUICE_BAD_LIMIT', () => connections(server, {})],
  [
    'limitConnections with a status, which nobody hears',
    'SLUICE_BAD_OPTION',
    () => connections(server, { limit: 1, status: 503 }),
  ],
  [
    'limitConnections with a key that is no function',
    'SLUICE_BAD_OPTION',
    () => connections(server, { limit: 1, key: 'ip' }),
  ],
  [
    'limitConnections with a name that no header can carry',
    'SLUICE_BAD_NAME',
    () => connections(server, { limit: 1, name: 'ü' }),
  ],
  ['limitConnections in a mode that is none', 'SLUICE_BAD_OPTION', () => connections(server, { limit: 1, mode: 'on' })],
]

describe('a bad option of sockets', () => {
  test.each(refused)('is refused at start-up: %s', (_what, code, build) => {
    const error = caught(build)
    expect({ code: error.code, message: error.message }).toEqual({
      code,
      message: expect.stringMatching(/expected .+, received .+/),
    })
  })

  test('leaves no listener on the server', () => {
    expect([server.listenerCount('checkContinue'), server.listenerCount('connection')]).toEqual([
      0,
      createServer().listenerCount('connection'),
    ])
  })
})

test('limiters of a framework are none of a plain server, which types know', () => {
  const ofExpress = expressRateLimit(policy)
  // @ts-expect-error its keys and hooks know requests of Express alone
  const options: ContinueGuardOptions = { rateLimit: ofExpress }
  expect(options.rateLimit).toBe(ofExpress)
})

test('limiters that are made already are taken by guardContinue', () => {
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
