import { createServer } from 'node:http'
import * as express from '@sluice/express'
import { sluice as fastifySluice } from '@sluice/fastify'
import { clusterBackend } from '@sluice/fleet'
import { RateGate } from '@sluice/http'
import { proofOfWork, protectLogin } from '@sluice/http/login'
import * as koa from '@sluice/koa'
import { createInflightLimiter, createLimiter, memoryBackend, waitFor } from '@sluice/limiter-core'
import { SluiceModule } from '@sluice/nest'
import * as nodeHttp from '@sluice/node-http'
import { runBudget } from '@sluice/quotas/budgets'
import * as redis from '@sluice/redis'
import { redisUniques } from '@sluice/redis/uniques'
import * as sketches from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { allowList, blockList, sketchBackend, sketchInflight } from '@sluice/sketches/limits'
import { type FastifyPluginAsync, fastify } from 'fastify'
import { type AppOptions, nestApp } from '../nest/nest-app.ts'

/** Options as in JavaScript, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Any = any
type Build = (options: Any) => unknown

const POLICY = { limit: 5, window: '1m' } as const
const SLOW = { after: 2, window: '1m', delayMs: 10, maxDelayMs: 30 } as const
const LOGIN = { secret: 'a secret of the tests' } as const
const runner = { run: () => new Promise<unknown>(() => {}) }
const channel = { publish: () => {}, subscribe: () => () => {} } as Any
const small = { width: 64, depth: 2 }
const sketch = { make: () => new sketches.CountMin(small), read: () => new sketches.CountMin(small), topic: 'topic' }
const settle = (): number => 1

/** A function that accepts options. */
export interface Owner {
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
export const OWNERS: Readonly<Record<string, Owner>> = {
  createLimiter: { build: createLimiter as Build, base: { policies: [POLICY] } },
  'a policy': { build: (policy) => createLimiter({ policies: [policy] }), base: POLICY },
  waitFor: {
    build: (options) => waitFor(createLimiter({ policies: [POLICY] }), 'key', options),
    base: { maxWaitMs: 1 },
  },
  createInflightLimiter: { build: createInflightLimiter as Build, base: { limit: 1 } },
  memoryBackend: { build: memoryBackend as Build },
  clusterBackend: { build: clusterBackend as Build },
  runBudget: { build: runBudget as Build, base: { calls: 1 } },
  'child of a run budget': { build: (options) => runBudget({ calls: 9 }).child(options), base: { calls: 1 } },
  'loops of a run budget': { build: (loops) => runBudget({ calls: 9, loops }), base: { repeats: 3 } },
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
  protectLogin: { build: protectLogin as Build, base: LOGIN },
  'account of protectLogin': { build: (account) => protectLogin({ ...LOGIN, account }) },
  'device of protectLogin': { build: (device) => protectLogin({ ...LOGIN, device }), base: POLICY },
  proofOfWork: { build: proofOfWork as Build, base: LOGIN },
  'challenge of protectLogin': { build: (challenge) => protectLogin({ ...LOGIN, challenge }) },
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

/** Returns the names of the options of a function, from its message about an unknown option. */
export async function namesOf({ build, base, names }: Owner): Promise<readonly string[]> {
  if (names) return names
  const refused = await messageOf(() => build({ ...base, zz: 1 }))
  const [, list = ''] =
    /expected (?:one of |an option out of )?(.*), received (?:an unknown option )?"zz"/.exec(refused ?? '') ?? []
  return list.split(/, | or /).map((name) => name.trim())
}

async function messageOf(run: () => unknown): Promise<string | undefined> {
  try {
    await run()
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}
