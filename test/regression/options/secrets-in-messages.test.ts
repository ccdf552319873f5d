import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import * as express from '@sluice/express'
import { InflightGate, RateGate } from '@sluice/http'
import { createInflightLimiter, createLimiter, type RequestView } from '@sluice/limiter-core'
import { kindOf, resetWarnings, shown } from '@sluice/limiter-core/backend'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import * as nodeHttp from '@sluice/node-http'
import * as redis from '@sluice/redis'
import * as sketches from '@sluice/sketches'
import { blockList } from '@sluice/sketches/limits'
import { until } from '@sluice/testkit'
import { oddBackend } from '../../contracts/computed-backend.ts'
import { namesOf, OWNERS } from '../../options/owners.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import type { RedisServer } from '../../services/redis/redis-server.ts'

/** Options as in JavaScript, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Any = any

const warned: unknown[] = []
const hear = (warning: Error): number => warned.push(warning)
beforeAll(() => void process.on('warning', hear))
afterAll(() => void process.off('warning', hear))
afterEach(() => resetWarnings())

const POLICY = { limit: 5, window: '1m' } as const
const runner = { run: () => new Promise<unknown>(() => {}) }

/** Secrets. Each contains a marker that must not appear anywhere. */
const MARK = /hunter2|sesame|918273645/
const LONG = 'open-sesame-with-32-characters-and-more'
const SECRETS: Readonly<Record<string, unknown>> = {
  'a password': 'hunter2',
  'a long secret': LONG,
  'a login': 'user:hunter2@host:6379',
  'a url': 'rediss://user:hunter2@host:6379/0',
  'a url with a query': 'https://host/?password=hunter2',
  'a string with line breaks': `a\r\nhunter2\r\n${LONG}`,
  bytes: Buffer.from(LONG),
  'a few bytes': Uint8Array.from(Buffer.from('sesame')),
  'a list with a secret': [LONG, LONG],
  'an object with a secret': { secret: 'hunter2', password: LONG, hunter2: true },
  'an object whose toString returns a secret': { toString: () => 'hunter2' },
  'a symbol': Symbol('hunter2'),
  'an error': new Error('hunter2'),
}
/** Options that are secrets or may contain them: not even numbers are included in messages. */
const NUMBERLESS = /secret|seed|pass|token|^partitionKey$|^backend$|^client$|^key$/i

/** The error as a logger would show it. Undefined if nothing was thrown. */
async function thrownBy(run: () => unknown): Promise<string | undefined> {
  try {
    await run()
  } catch (error) {
    return `${String(error)}\n${inspect(error, { depth: 8, showHidden: true })}`
  }
  return undefined
}

describe.each(Object.entries(OWNERS))('%s', (name, owner) => {
  test('does not include a secret that was passed as its options, or as an option name', async () => {
    for (const secret of [...Object.values(SECRETS), 918_273_645]) {
      const isAnOption =
        (typeof secret === 'object' && !Array.isArray(secret)) || (name === 'cost' && secret === 918_273_645)
      if (!isAnOption) expect((await thrownBy(() => owner.build(secret))) ?? '').not.toMatch(MARK)
    }
    for (const secret of [LONG, 'user:hunter2@host', 'rediss://:hunter2@host', `a\nb ${LONG}`]) {
      expect((await thrownBy(() => owner.build({ ...owner.base, [secret]: true }))) ?? '').not.toMatch(MARK)
    }
  })

  test('does not include a secret that was passed as any of its options', async () => {
    const names = await namesOf(owner)
    expect(names.length).toBeGreaterThan(0)
    expect(names).not.toContain('')
    for (const option of names) {
      for (const [what, secret] of Object.entries(SECRETS)) {
        // a short string in place of an enum value counts as a misspelling
        if (what === 'a password' && shown(secret, option) !== kindOf(secret)) continue
        const message = (await thrownBy(() => owner.build({ ...owner.base, [option]: secret }))) ?? ''
        expect({ option, what, message }).toEqual({ option, what, message: expect.not.stringMatching(MARK) })
      }
      if (!NUMBERLESS.test(option)) continue
      const message = (await thrownBy(() => owner.build({ ...owner.base, [option]: 918_273_645 }))) ?? ''
      expect({ option, message }).toEqual({ option, message: expect.not.stringMatching(MARK) })
    }
    await new Promise(setImmediate)
    expect(inspect(warned, { depth: 8 })).not.toMatch(MARK)
  })
})

test('options that may be secrets are not among the options whose values are shown', () => {
  for (const name of ['secret', 'seed', 'key', 'backend', 'client', 'partitionKey', 'password', 'token', 'url']) {
    for (const option of [name, `redisBackend: ${name}`, `partitionKey.${name}`, `block list ${name}`]) {
      expect(shown('k', option)).toBe('a string of 1 characters')
    }
  }
  for (const option of ['prefix', 'hashKeys', 'scope', 'clock', 'options', '']) {
    expect(shown('hunter2', option)).not.toMatch(MARK)
  }
  expect(shown('shadwo', 'mode')).toBe('"shadwo"')
  expect(shown('100', "policy 'default': limit")).toBe('"100"')
})

describe('a single value', () => {
  const decorated = express.RateLimit(POLICY) as Any
  const method = { kind: 'method', name: 'logIn', metadata: {}, addInitializer: () => {} }
  const logIn = decorated(function logIn(_user: unknown, _password: unknown) {}, method)
  const ALONE: Readonly<Record<string, (secret: Any) => unknown>> = {
    'a seed of a hash': (secret) => createKeyedHash(secret),
    'a seed of a sketch': (secret) => new sketches.SketchSeed(secret),
    'the client of a backend': (secret) => redis.redisBackend(secret),
    'the client of a channel': (secret) => redis.redisChannel(secret),
    'a target of Redis': (secret) => redis.createRedis(secret, { lazyConnect: true }).disconnect(),
    'nodes of a cluster': (secret) => redis.createRedisCluster(secret, { lazyConnect: true }).disconnect(),
    'a topic': (secret) => redis.redisChannel(runner).publish(secret, Buffer.from('x')),
    'a message': (secret) => redis.redisChannel(runner).publish('topic', secret),
    'the name of a sum': (secret) => redis.redisSums(runner, { name: 'sums' }).add(`{${String(secret)}}`),
    'a header': (secret) => express.byHeader(secret),
    'a principal': (secret) => express.byPrincipal(secret),
    'a part of a key': (secret) => express.byAll(secret),
    'a server': (secret) => nodeHttp.limitConnections(secret, { limit: 1 }),
    'a server of uploads': (secret) => nodeHttp.guardContinue(secret, { rateLimit: POLICY }),
    'a listener of upgrades': (secret) => nodeHttp.limitUpgrade({ rateLimit: POLICY }, secret),
    'an argument of a decorator': (secret) => (express.RateLimit as Any)(secret),
    'a key to take': (secret) =>
      createLimiter({ policies: [POLICY] }).take(typeof secret === 'string' ? [secret] : secret),
    'a key of a policy': (secret) => createLimiter({ policies: [POLICY] }).take({ default: [secret] as Any }),
    'a key of a permit': (secret) => createInflightLimiter({ limit: 1 }).acquire([secret] as Any),
    'units to charge': (secret) => createLimiter({ policies: [POLICY] }).charge('key', secret),
    'a cost': (secret) => createLimiter({ policies: [POLICY] }).take('key', secret),
    'a weight': (secret) => createInflightLimiter({ limit: 1 }).acquire('key', { weight: secret }),
    'a key of a list': (secret) => blockList({ capacity: 10, exact: () => true }).add([secret] as Any),
    'keys of a list': (secret) => blockList({ capacity: 10, exact: () => true }).addAll(secret),
    'arguments of a decorated method': (secret) => logIn(secret, secret),
  }

  test.each(Object.entries(ALONE))('is not included in any message: %s', async (_what, use) => {
    for (const secret of Object.values(SECRETS)) {
      resetWarnings()
      expect((await thrownBy(() => use(secret))) ?? '').not.toMatch(MARK)
    }
    await new Promise(setImmediate)
    expect(inspect(warned, { depth: 8 })).not.toMatch(MARK)
  })
})

describe('a value from a request', () => {
  const view = (ip: unknown): RequestView => ({
    raw: {},
    ip: ip as string,
    method: 'GET',
    route: '/',
    header: () => undefined,
  })

  test.each(Object.entries(SECRETS))('is not included in any warning: %s', async (_what, secret) => {
    const answer = (): Any => secret
    new RateGate({ ...POLICY, key: answer }).check(view('10.0.0.1'))
    new RateGate(POLICY).check(view(secret))
    new RateGate({ ...POLICY, cost: answer }).check(view('10.0.0.1'))
    new InflightGate({ limit: 1, weight: answer }).check(view('10.0.0.1'))
    await new RateGate({ ...POLICY, backend: oddBackend(answer) }).check(view('10.0.0.1'))
    await new InflightGate({ limit: 1, backend: { acquire: answer } }).check(view('10.0.0.1'))
    const list = blockList({ capacity: 10, exact: answer })
    list.add('key')
    await list.has('key')
    list.close()
    await new Promise(setImmediate)
    expect(inspect(warned, { depth: 8 })).not.toMatch(MARK)
  })
})

describe('an error of Redis', () => {
  const ownRedis = redisForTests({ args: ['--requirepass', 'right'] })

  test.each([
    ['a single server', (onError: (error: Error) => void) => redis.createRedis(urlOf(ownRedis.server), { onError })],
    [
      'a cluster',
      (onError: (error: Error) => void) =>
        redis.createRedisCluster([{ host: '127.0.0.1', port: ownRedis.server.port }], {
          onError,
          redisOptions: { password: 'hunter2' },
        }),
    ],
  ])('includes no password and no key, of %s', async (_what, connect) => {
    const errors: unknown[] = []
    const client = connect((error) => errors.push(error))
    const observers = [{ event: (_name: string, data: unknown) => errors.push(data) }]
    const limiter = createLimiter({ policies: [POLICY], backend: redis.redisBackend(client), observers })
    await limiter.take('sesame')
    await until(() => errors.length > 2)
    await limiter.take('sesame')
    client.disconnect()
    const all = inspect(errors, { depth: 12, showHidden: true })
    expect(all).toMatch(/Error|CONNECTION/)
    expect(all).not.toMatch(MARK)
  })

  test('of a script includes no key of a client', async () => {
    const errors: unknown[] = []
    const client = redis.createRedis(urlOf(ownRedis.server, 'right'))
    await until(() => client.status === 'ready')
    const observers = [{ event: (_name: string, data: unknown) => errors.push(data) }]
    const limiter = createLimiter({
      policies: [{ ...POLICY, algorithm: 'fixed-window' }],
      backend: redis.redisBackend(client),
      observers,
      deadlineMs: '5s',
    })
    await client.lpush('sluice:{sesame}:default/default/fixed-window@1/60000', 'somebody else')
    expect(await limiter.take('sesame')).toMatchObject({ counted: false })
    client.disconnect()
    expect(errors).toMatchObject([{ cause: 'WRONGTYPE' }])
    expect(inspect(errors, { depth: 12, showHidden: true })).not.toMatch(MARK)
  })
})

function urlOf({ port }: RedisServer, password = 'hunter2'): string {
  return `redis://:${password}@127.0.0.1:${port}/0`
}
