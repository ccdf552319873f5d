import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type Answer, type Backend, createInflightLimiter, createLimiter } from '@sluice/limiter-core'
import { leasedBackend, redisBackend, redisInflight, type UpstashRedisClient } from '@sluice/redis'
import { Redis, type RedisConfigNodejs } from '@upstash/redis'
import { forTests } from '../../services/for-tests.ts'
import { freePort } from '../../services/free-port.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { type Fault, RestServer, TOKEN } from '../../services/redis/rest-server.ts'
import { chargeOf, hour, minute, remaining } from '../exact/charge.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const redis = redisForTests()
const rest = forTests(
  () => RestServer.start(redis.server.port),
  (one) => one.stop(),
)
let backend: Backend<Promise<Answer>>

beforeEach(() => {
  backend = redisBackend(client(), { prefix: ownPrefix() })
  rest.current.requests.length = 0
})

function client(config: Partial<RedisConfigNodejs> = {}): Redis {
  return new Redis({ url: rest.current.url, token: TOKEN, ...config })
}

const take = (key: string): Promise<Answer> => backend.takeAll([chargeOf(backend, minute, key)])
const namesOf = (requests: readonly unknown[]): unknown[] => requests.map((body) => (body as readonly unknown[])[0])

describe('a call', () => {
  test('contains the requests of one task, and waits for none before it', async () => {
    // the server knows the scripts for one take and for several
    await Promise.all([take('known'), take('known')])
    await Promise.all([take('known')])
    rest.current.requests.length = 0
    await Promise.all(Array.from({ length: 5 }, () => take('a')))
    expect(rest.current.requests).toHaveLength(1)
    const first = take('b')
    await Promise.resolve()
    await Promise.all([first, take('b'), take('c')])
    expect(rest.current.requests).toHaveLength(3)
    expect(await remaining(backend, minute, 'a')).toBe(0)
  })

  test('sends the text of a script only to a server that does not know it', async () => {
    await redis.server.client().script('FLUSH')
    await take('a')
    await take('a')
    expect(namesOf(rest.current.requests)).toEqual(['EVALSHA', 'EVAL', 'EVALSHA'])
  })

  test.each([
    ['does not convert replies', { automaticDeserialization: false }],
    ['asks for plain strings', { responseEncoding: false }],
    ['tries nothing again', { retry: false }],
  ] as const)('is the same with a client that %s', async (_what, config) => {
    backend = redisBackend(client(config), { prefix: ownPrefix() })
    await take('a')
    expect(await remaining(backend, minute, 'a')).toBe(4)
  })

  test('keeps keys of any characters apart', async () => {
    const keys = ['ключ', 'ключ ', '\ud800', '\udfff', '\0', '"quoted"', 'back\\slash', '{a}', '👍'.repeat(40), '']
    await Promise.all(keys.flatMap((key, times) => Array.from({ length: times % 4 }, () => take(key))))
    expect(await Promise.all(keys.map((key) => remaining(backend, minute, key)))).toEqual(
      keys.map((_key, times) => 5 - (times % 4)),
    )
  })
})

describe('a failed request is sent once and not again, so that it counts at most once:', () => {
  const drop: Fault = (res) => res.destroy()
  const status =
    (code: number, body: string): Fault =>
    (res) =>
      res.writeHead(code).end(body)

  test.each<[string, Fault, object, number]>([
    ['the connection breaks first', drop, { code: 'CONNECTION', mayHaveCounted: true }, 0],
    [
      'the connection breaks before the reply',
      async (res, run) => {
        const end = jest.spyOn(res, 'end').mockImplementation(() => res)
        await run()
        end.mockRestore()
        res.destroy()
      },
      { code: 'CONNECTION', mayHaveCounted: true },
      1,
    ],
    [
      'the plan of the database is exhausted',
      status(429, '{"error":"ERR max requests limit exceeded. Limit: 10000, Usage: 10000."}'),
      { code: 'ERR', mayHaveCounted: false },
      0,
    ],
    ['a gateway refuses it', status(403, '<html>'), { code: 'HTTP', mayHaveCounted: false }, 0],
    ['a gateway fails', status(502, '<html>'), { code: 'HTTP', mayHaveCounted: true }, 0],
    ['the server fails', status(500, '{"error":"internal error"}'), { code: 'HTTP', mayHaveCounted: true }, 0],
    ['the answer is no JSON', status(200, '{"result":'), { code: 'HTTP', mayHaveCounted: true }, 0],
    ['the answer is no object', status(200, 'null'), { code: 'HTTP', mayHaveCounted: true }, 0],
    ['the answer has another form', status(200, '{"result":"Zm9v"}'), { code: 'ERR', mayHaveCounted: true }, 0],
    ['the answer has no result', status(200, '{}'), { code: 'ERR', mayHaveCounted: true }, 0],
  ])('%s', async (_what, fault, failure, counted) => {
    await backend.takeAll([chargeOf(backend, hour, 'other')])
    const before = rest.current.requests.length
    rest.current.faults.push(fault)
    await expect(take('a')).rejects.toMatchObject(failure)
    expect(rest.current.requests).toHaveLength(before + 1)
    expect(await remaining(backend, minute, 'a')).toBe(5 - counted)
  })

  test('a wrong token', async () => {
    backend = redisBackend(client({ token: 'wrong' }), { prefix: ownPrefix() })
    const error: Error = await take('a').then(
      () => Promise.reject(new Error('passed')),
      (reason) => reason,
    )
    expect(error).toMatchObject({ code: 'HTTP', message: 'Unauthorized', mayHaveCounted: false })
  })

  test('a server that cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    backend = redisBackend(client({ url }), { prefix: ownPrefix() })
    await expect(take('a')).rejects.toMatchObject({ code: 'CONNECTION', mayHaveCounted: false })
  })

  test('a server that does not answer, while the failure rule of the limiter applies', async () => {
    const limiter = createLimiter({
      policies: [{ name: 'api', limit: 5, window: '1h' }],
      backend,
      deadlineMs: 50,
      onBackendError: 'deny',
    })
    await limiter.take('a')
    rest.current.faults.push(() => {})
    expect(await limiter.take('a')).toMatchObject({ allowed: false, counted: false })
    limiter.close()
  })
})

describe('over the REST protocol', () => {
  test('places are held and returned', async () => {
    const places = redisInflight(client(), { prefix: ownPrefix(), limit: 2 })
    const caps = [1, 2].map(() => createInflightLimiter({ limit: 2, name: 'jobs', shared: true, backend: places }))
    const permits = [await caps[0].acquire('a'), await caps[1].acquire('a')]
    expect(await caps[0].acquire('a')).toBeUndefined()
    await permits[1]?.release()
    expect(await caps[0].acquire('a')).toBeDefined()
    for (const cap of caps) await cap.close()
    await places.close?.()
  })

  test('leases are given and returned', async () => {
    const leases = leasedBackend(client(), { prefix: ownPrefix() })
    const limiter = createLimiter({ policies: [{ name: 'api', limit: 100, window: '1h' }], backend: leases })
    const decisions = await Promise.all(Array.from({ length: 150 }, () => limiter.take('a')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    limiter.close()
    await leases.close?.()
  })

  test('native commands that the server does not have are replaced by scripts', async () => {
    backend = redisBackend(client(), { prefix: ownPrefix(), nativeCommands: true })
    for (let taken = 0; taken < 3; taken++) await take('a')
    expect(await remaining(backend, minute, 'a')).toBe(2)
  })
})

test.each([
  ['without a URL and a token', () => new Redis({ url: '', token: '' })],
  ['with its own requester', () => new Redis({ request: async () => ({ result: null }) } as never)],
])('a client %s is refused when the backend is created', (_what, made) => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  expect(() => redisBackend(made() as UpstashRedisClient)).toThrow(
    expect.objectContaining({ code: 'SLUICE_BAD_OPTION', message: expect.stringContaining('url and token') }),
  )
  warn.mockRestore()
})
