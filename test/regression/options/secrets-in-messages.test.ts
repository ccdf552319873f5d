import { createServer } from 'node:http'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import * as express from '@sluice/express'
import { sluice as fastifySluice } from '@sluice/fastify'
import { clusterBackend } from '@sluice/fleet'
import { InflightGate, RateGate } from '@sluice/http'
import { createKeyedHash } from '@sluice/keyed-hash'
import * as koa from '@sluice/koa'
import { createInflightLimiter, createLimiter, memoryBackend, type RequestView, waitFor } from '@sluice/limiter-core'
import { kindOf, resetWarnings, shown } from '@sluice/limiter-core/backend'
import { SluiceModule } from '@sluice/nest'
import * as nodeHttp from '@sluice/node-http'
import * as redis from '@sluice/redis'
import { redisUniques } from '@sluice/redis/uniques'
import * as sketches from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { allowList, blockList, sketchBackend, sketchInflight } from '@sluice/sketches/limits'
import { until } from '@sluice/testkit'
import { type FastifyPluginAsync, fastify } from 'fastify'
import { oddBackend } from '../../contracts/computed-backend.ts'
import { type AppOptions, nestApp } from '../../nest/nest-app.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

/** Options as in JavaScript, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Any = any
type Build = (options: Any) => unknown

const warned: unknown[] = []
const hear = (warning: Error): number => warned.push(warning)
beforeAll(() => void process.on('warning', hear))
afterAll(() => void process.off('warning', hear))
afterEach(() => resetWarnings())

const POLICY = { limit: 5, window: '1m' } as const
const SLOW = { after: 2, window: '1m', delayMs: 10, maxDelayMs: 30 } as const
const runner = { run: () => new Promise<unknown>(() => {}) }
const channel = { publish: () => {}, subscribe: () => () => {} } as Any
const small = { width: 64, depth: 2 }
const sketch = { make: () => new sketches.CountMin(small), read: () => new sketches.CountMin(small), topic: 'topic' }
const settle = (): number => 1

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

interface Owner {
  readonly build: Build
  /** Valid options, to which one invalid option is added. */
  readonly base?: object
  /** If set, the option that accepts unknown names. */
  readonly names?: readonly string[]
}

async function onFastify(app: object, route: object = {}): Promise<void> {
  const site = fastify()
  await site.register(fastifySluice as FastifyPluginAsync<object>, app)
  site.get('/', { config: { sluice: route } as object }, async () => 'ok')
  await site.ready()
}

async function onNest(options: AppOptions): Promise<void> {
  await (await nestApp('Express', options)).close()
}

function sketchOwner(build: new (options: Any) => unknown, base: object): Owner {
  return { build: (options) => new build(options), base }
}

const ioredis = ['host', 'port', 'username', 'password', 'sentinelPassword', 'name', 'onError', 'tls', 'db'] as const

/** Everything that accepts options, in all packages. */
const OWNERS: Readonly<Record<string, Owner>> = {
  createLimiter: { build: createLimiter as Build, base: { policies: [POLICY] } },
  'a policy': { build: (policy) => createLimiter({ policies: [policy] }), base: POLICY },
  waitFor: {
    build: (options) => waitFor(createLimiter({ policies: [POLICY] }), 'key', options),
    base: { maxWaitMs: 1 },
  },
  createInflightLimiter: { build: createInflightLimiter as Build, base: { limit: 1 } },
  memoryBackend: { build: memoryBackend as Build },
  clusterBackend: { build: clusterBackend as Build },
  rateLimit: { build: (options) => new RateGate(options), base: POLICY },
  'rateLimit with policies': { build: (options) => new RateGate(options), base: { policies: [POLICY] } },
  'rateLimit with plans': {
    build: (options) => new RateGate(options),
    base: { plans: { free: [POLICY] }, plan: () => 'free' },
  },
  'rateLimit of Express': { build: express.rateLimit as Build, base: POLICY },
  'rateLimit of Koa': { build: koa.rateLimit as Build, base: POLICY },
  partitionKey: { build: (partitionKey) => new RateGate({ ...POLICY, partitionKey }), base: { secret: 'k' } },
  legacy: { build: (legacy) => new RateGate({ ...POLICY, legacy }), base: { reset: 'epoch' } },
  cost: { build: (cost) => new RateGate({ ...POLICY, cost }), base: { reserve: 1, settle } },
  slowDown: { build: nodeHttp.slowDown as Build, base: SLOW },
  inflightLimit: { build: nodeHttp.inflightLimit as Build, base: { limit: 1 } },
  createSluice: { build: nodeHttp.createSluice as Build },
  limitUpgrade: { build: nodeHttp.limitUpgrade as Build, base: { rateLimit: POLICY } },
  guardContinue: { build: (options) => nodeHttp.guardContinue(createServer(), options), base: { rateLimit: POLICY } },
  limitConnections: { build: (options) => nodeHttp.limitConnections(createServer(), options), base: { limit: 1 } },
  byIp: { build: express.byIp as Build },
  byHeader: { build: (options) => express.byHeader('x-api-key', options) },
  'the plugin of Fastify': { build: (options) => onFastify(options) },
  'a route of Fastify': { build: (options) => onFastify({}, options) },
  'the module of Nest': { build: (options) => onNest({ imports: [SluiceModule.forRoot(options)] }) },
  redisBackend: { build: (options) => redis.redisBackend(runner, options) },
  leasedBackend: { build: (options) => redis.leasedBackend(runner, options) },
  redisInflight: { build: (options) => redis.redisInflight(runner, options) },
  redisChannel: { build: (options) => redis.redisChannel(runner, options) },
  redisSums: { build: (options) => redis.redisSums(runner, options), base: { name: 'sums' } },
  redisUniques: { build: (options) => redisUniques(runner, options), base: { name: 'uniques' } },
  createRedis: { build: (options) => redis.createRedis(lazy(options)).disconnect(), names: ioredis },
  createRedisCluster: {
    build: (options) => redis.createRedisCluster([{ host: 'localhost' }], lazy(options)).disconnect(),
    names: ['redisOptions', 'onError'],
  },
  sketchBackend: { build: sketchBackend as Build },
  'history of sketchBackend': { build: (history) => sketchBackend({ history }), base: { unit: '1m', keep: '10m' } },
  sketchInflight: { build: sketchInflight as Build },
  blockList: { build: blockList as Build, base: { capacity: 10, exact: () => true } },
  allowList: { build: allowList as Build, base: { capacity: 10, exact: () => true } },
  'remember of a list': {
    build: (remember) => blockList({ capacity: 10, exact: () => true, remember }),
    base: { ttlMs: 1 },
  },
  shareSketch: { build: (options) => shareSketch(channel, options), base: sketch },
  CountMin: sketchOwner(sketches.CountMin, small),
  CountRange: sketchOwner(sketches.CountRange, { ...small, bits: 8 }),
  Estimator: sketchOwner(sketches.Estimator, {}),
  Rate: sketchOwner(sketches.Rate, { intervalMs: 1_000 }),
  Inflight: sketchOwner(sketches.Inflight, {}),
  HokusaiTime: sketchOwner(sketches.HokusaiTime, { ...small, unitMs: 1_000, retainMs: 8_000 }),
  HokusaiItem: sketchOwner(sketches.HokusaiItem, { ...small, unitMs: 1_000, retainMs: 8_000 }),
  Hokusai: sketchOwner(sketches.Hokusai, { ...small, unitMs: 1_000, retainMs: 8_000 }),
  HyperLogLog: sketchOwner(sketches.HyperLogLog, {}),
  RedisHyperLogLog: sketchOwner(sketches.RedisHyperLogLog, {}),
  SpaceSaving: sketchOwner(sketches.SpaceSaving, { capacity: 8 }),
  HeavyKeeper: sketchOwner(sketches.HeavyKeeper, { k: 8 }),
  TDigest: sketchOwner(sketches.TDigest, {}),
  BloomFilter: sketchOwner(sketches.BloomFilter, { capacity: 10 }),
  BlockedBloomFilter: sketchOwner(sketches.BlockedBloomFilter, { capacity: 10 }),
  CountingBloomFilter: sketchOwner(sketches.CountingBloomFilter, { capacity: 10 }),
}

function lazy(options: Any): Any {
  return typeof options === 'object' && options !== null && !Array.isArray(options)
    ? { lazyConnect: true, ...options }
    : options
}

/** The error as a logger would show it. Undefined if nothing was thrown. */
async function thrownBy(run: () => unknown): Promise<string | undefined> {
  try {
    await run()
  } catch (error) {
    return `${String(error)}\n${inspect(error, { depth: 8, showHidden: true })}`
  }
  return undefined
}

async function namesOf({ build, base, names }: Owner): Promise<readonly string[]> {
  if (names) return names
  const refused = await thrownBy(() => build({ ...base, zz: 1 }))
  const [, list = ''] =
    /expected (?:one of |an option out of )?(.*), received (?:an unknown option )?"zz"/.exec(refused ?? '') ?? []
  return list.split(/, | or /).map((name) => name.trim())
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
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ args: ['--requirepass', 'right'] })
  })
  afterAll(() => server.stop())

  test.each([
    ['a single server', (onError: (error: Error) => void) => redis.createRedis(urlOf(server), { onError })],
    [
      'a cluster',
      (onError: (error: Error) => void) =>
        redis.createRedisCluster([{ host: '127.0.0.1', port: server.port }], {
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
    const client = redis.createRedis(urlOf(server, 'right'))
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
