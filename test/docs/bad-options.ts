import { durableObjectBackend } from '@sluice/cloudflare'
import { createCounters, digestCounters, uniqueCounters } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { redisCounters } from '@sluice/counters/redis'
import {
  byAll,
  byHeader,
  byIp,
  byPrincipal,
  createInflightLimiter,
  createLimiter,
  createSluice,
  inflightLimit,
  limitOverrides,
  memoryBackend,
  rateLimit,
} from '@sluice/express'
import { HashRing } from '@sluice/fleet/backend'
import { CounterMetric, HistogramMetric } from '@sluice/fleet/metrics'
import { createGossip, gossipBackend } from '@sluice/gossip'
import { proofOfWork, protectLogin } from '@sluice/http/login'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { limitTools } from '@sluice/mcp'
import {
  checkPolicies,
  fileSource,
  listFile,
  parsePolicies,
  postgresSource,
  redisSource,
  urlSource,
} from '@sluice/policies'
import { postgresBackend } from '@sluice/postgres'
import { createRedis, createRedisCluster, redisBackend, redisChannel, redisSums } from '@sluice/redis'
import { CountMin, SketchSeed } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { blockList, sketchBackend } from '@sluice/sketches/limits'
import { type RowStore, storeBackend } from '@sluice/stores'
import { d1Store } from '@sluice/stores/d1'
import { denoKvStore } from '@sluice/stores/deno-kv'
import { dynamoStore } from '@sluice/stores/dynamodb'
import { memcachedStore } from '@sluice/stores/memcached'
import { mysqlStore } from '@sluice/stores/mysql'
import { sqliteStore } from '@sluice/stores/sqlite'
import { limitedDescription } from '../../packages/cli/src/openapi/description-limits.ts'
import { InProcessObjects } from '../cloudflare/in-process-objects.ts'

const limited = (text: string): unknown =>
  limitedDescription(text, SMALL, { file: 'openapi.yaml', dialects: ['draft'], overload: false })
const SMALL = { version: 1, policies: [{ name: 'a', limit: 1, per: '1m' }] } as const
const WORDY = 'version: 1\npolicies:\n  - { name: a, limit: many, per: 1m }\n'

/** Invalid options that a user may write, with the error code that each must throw at start-up. */
export type BadOption = readonly [what: string, code: string, build: () => unknown]

/** Untyped, as JavaScript would call it. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Untyped = (options?: any, more?: any) => unknown

const open = (): object => ({})

const rate = rateLimit as Untyped
const cap = inflightLimit as Untyped
const limiter = createLimiter as Untyped
const overridden = limitOverrides as Untyped
const policy = { limit: 100, window: '1m' } as const
const one = (options: object): unknown => rate({ ...policy, ...options })
const work = (options: object): unknown => proofOfWork({ secret: 'a secret of the tests', ...options })
const login = (options: object): unknown => protectLogin({ secret: 'a secret of the tests', ...options })
const none = (): number => 0
const held = { maxHoldMs: '1m' } as const
const streamed = { reserve: 1, extend: 'stream' } as const
const objects = new InProcessObjects()
const denoKv = {
  getMany: async () => [],
  atomic: () => ({ check: open, set: open, commit: async () => ({ ok: true }) }),
}
const d1 = { prepare: open as never, batch: async () => [] }
const mysql = { query: () => new Promise<never>(() => {}), getConnection: () => new Promise<never>(() => {}) }
const sqlite = { exec: open, prepare: () => ({ get: open, run: () => ({ changes: 0 }) }) }
const oneRow = storeBackend({ maxRows: 1, read: async () => [], write: async () => true })
const twoPolicies = ['burst', 'daily'].map((name) => ({ ...policy, name }))
const rows: RowStore = { read: async () => [], write: async () => true }
const sql = { query: () => new Promise<never>(() => {}) }
const hot = (options: object): unknown => redisCounters(runner, { ledger: postgresLedger(sql), ...options })
const runner = { run: () => new Promise<unknown>(() => {}) }

const small = { width: 8, depth: 2 }
const sharing = { make: () => new CountMin(small), read: (bytes: Uint8Array) => CountMin.fromBytes(bytes) }

function unnamedTwice(): void {
  const backend = memoryBackend()
  for (let time = 0; time < 2; time++) rateLimit({ limit: 100, window: '1m', backend })
}

function sameNameTwice(): void {
  const backend = memoryBackend()
  rateLimit({ name: 'api', limit: 100, window: '1m', backend })
  rateLimit({ name: 'api', limit: 50, window: '1m', backend })
}

function drainsOverGossip(): unknown {
  const backend = gossipBackend(createGossip({ peers: [] }))
  return rate({ ...policy, algorithm: 'gcra', backend })
}

export const badOptions: readonly BadOption[] = [
  ['gossip of a policy whose units drain', 'SLUICE_BAD_POLICY', drainsOverGossip],
  ['counters with an unknown option', 'SLUICE_BAD_OPTION', () => (createCounters as Untyped)({ flush: 1 })],
  ['counters with a blank name', 'SLUICE_BAD_NAME', () => createCounters({ name: 'a b' })],
  ['counters with an invalid ledger', 'SLUICE_BAD_OPTION', () => (createCounters as Untyped)({ ledger: {} })],
  ['counters that never flush', 'SLUICE_BAD_DURATION', () => createCounters({ flushMs: 0 })],
  ['counters with empty batches', 'SLUICE_BAD_OPTION', () => createCounters({ maxBatch: 0 })],
  ['counters in Redis without a ledger', 'SLUICE_BAD_OPTION', () => (redisCounters as Untyped)(runner, {})],
  [
    'counters with an invalid Redis client',
    'SLUICE_BAD_OPTION',
    () => (redisCounters as Untyped)({}, { ledger: postgresLedger(sql) }),
  ],
  ['counters in too many parts', 'SLUICE_BAD_OPTION', () => hot({ partitions: 2_000 })],
  ['counters under a prefix in braces', 'SLUICE_BAD_OPTION', () => hot({ prefix: '{a}' })],
  ['a ledger in a schema with a quote', 'SLUICE_BAD_OPTION', () => postgresLedger(sql, { schema: 'a"b' })],
  [
    'a ledger with an invalid PostgreSQL client',
    'SLUICE_BAD_OPTION',
    () => (postgresLedger as Untyped)('postgres://localhost'),
  ],
  ['limits in a schema with a quote', 'SLUICE_BAD_OPTION', () => postgresBackend(sql, { schema: 'a"b' })],
  ['limits with an invalid PostgreSQL client', 'SLUICE_BAD_OPTION', () => (postgresBackend as Untyped)({})],
  ['limits in a Durable Object without a binding', 'SLUICE_BAD_OPTION', () => (durableObjectBackend as Untyped)({})],
  ['limits in no Durable Object', 'SLUICE_BAD_OPTION', () => durableObjectBackend(objects, { shards: 0 })],
  ['limits in Durable Objects without names', 'SLUICE_BAD_OPTION', () => durableObjectBackend(objects, { prefix: '' })],
  [
    'limits in Durable Objects in empty batches',
    'SLUICE_BAD_OPTION',
    () => durableObjectBackend(objects, { maxBatch: 0 }),
  ],
  [
    'limits in Durable Objects with a short secret',
    'SLUICE_BAD_OPTION',
    () => durableObjectBackend(objects, { secret: 'short' }),
  ],
  ['limits with a short secret', 'SLUICE_BAD_OPTION', () => postgresBackend(sql, { secret: 'short' })],
  ['limits in PostgreSQL in empty batches', 'SLUICE_BAD_OPTION', () => postgresBackend(sql, { maxBatch: 0 })],
  ['limits in an object that is not a store', 'SLUICE_BAD_OPTION', () => (storeBackend as Untyped)({ read: open })],
  ['limits in a store without rows', 'SLUICE_BAD_OPTION', () => storeBackend({ ...rows, maxRows: 0 })],
  ['limits in a store with a time as its clock', 'SLUICE_BAD_OPTION', () => storeBackend({ ...rows, now: 1 as never })],
  ['limits in a store without a prefix', 'SLUICE_BAD_OPTION', () => storeBackend(rows, { prefix: '' })],
  ['limits in a store with a name of two lines', 'SLUICE_BAD_OPTION', () => storeBackend(rows, { name: 'a\nb' })],
  ['limits in a store with a short secret', 'SLUICE_BAD_OPTION', () => storeBackend(rows, { secret: 'short' })],
  ['limits in a store in empty batches', 'SLUICE_BAD_OPTION', () => storeBackend(rows, { maxBatch: 0 })],
  ['rows in an object that is not a database', 'SLUICE_BAD_OPTION', () => (sqliteStore as Untyped)({ exec: open })],
  ['rows in a table with a quote', 'SLUICE_BAD_OPTION', () => sqliteStore(sqlite, { table: 'a"b' })],
  ['rows in a file that blocks the process', 'SLUICE_BAD_OPTION', () => sqliteStore(sqlite, { busyMs: 5_000 })],
  ['rows in an object that is not a pool', 'SLUICE_BAD_OPTION', () => (mysqlStore as Untyped)({ query: open })],
  ['rows in a table of MySQL with a quote', 'SLUICE_BAD_OPTION', () => mysqlStore(mysql, { table: 'a`b' })],
  ['rows in a pool without promises', 'SLUICE_BAD_OPTION', () => (mysqlStore as Untyped)({ ...mysql, promise: open })],
  ['rows in an object that is not D1', 'SLUICE_BAD_OPTION', () => (d1Store as Untyped)({ prepare: open })],
  ['rows in a table of D1 with a quote', 'SLUICE_BAD_OPTION', () => d1Store(d1, { waitUntil: open, table: 'a"b' })],
  ['rows in D1 without waitUntil', 'SLUICE_BAD_OPTION', () => (d1Store as Untyped)(d1)],
  ['rows in an object that is not DynamoDB', 'SLUICE_BAD_OPTION', () => (dynamoStore as Untyped)({ query: open })],
  ['rows in a table with a space', 'SLUICE_BAD_OPTION', () => dynamoStore({ send: mysql.query }, { table: 'a b' })],
  ['rows in an object that is not a client', 'SLUICE_BAD_OPTION', () => (memcachedStore as Untyped)({ gets: open })],
  [
    'rows of two policies in Memcached',
    'SLUICE_BAD_POLICY',
    () => createLimiter({ policies: twoPolicies, backend: oneRow }),
  ],
  ['rows in an object that is not Deno KV', 'SLUICE_BAD_OPTION', () => (denoKvStore as Untyped)({ atomic: open })],
  ['rows in Deno KV without a prefix', 'SLUICE_BAD_OPTION', () => denoKvStore(denoKv, { prefix: '' })],
  ['limits of tools without limits', 'SLUICE_BAD_OPTION', () => limitTools({})],
  ['limits of tools in no object', 'SLUICE_BAD_OPTION', () => (limitTools as Untyped)({ tools: [] })],
  ['a tool with an unknown limit', 'SLUICE_BAD_OPTION', () => (limitTools as Untyped)({ tools: { a: policy } })],
  ['a tool with a limit of 0', 'SLUICE_BAD_LIMIT', () => limitTools({ tools: { a: { inflightLimit: { limit: 0 } } } })],
  [
    'tools with headers',
    'SLUICE_BAD_OPTION',
    () => (limitTools as Untyped)({ rateLimit: { ...policy, headers: 'draft' } }),
  ],
  ['a server of no SDK', 'SLUICE_BAD_OPTION', () => limitTools({ rateLimit: policy }).apply({} as never)],
  ['a limit in quotes', 'SLUICE_BAD_LIMIT', () => one({ limit: '100' })],
  ['a limit of 0', 'SLUICE_BAD_LIMIT', () => one({ limit: 0 })],
  ['an unknown failure rule', 'SLUICE_BAD_OPTION', () => one({ onBackendError: 'open' })],
  ['a share above 1', 'SLUICE_BAD_OPTION', () => one({ onBackendError: { local: { share: 2 } } })],
  ['a deadline of 0', 'SLUICE_BAD_DURATION', () => one({ deadlineMs: 0 })],
  ['overrides without limits', 'SLUICE_BAD_OPTION', () => overridden({})],
  ['overrides with two sources', 'SLUICE_BAD_OPTION', () => overridden({ limits: {}, load: () => ({}) })],
  ['overrides in an array', 'SLUICE_BAD_OPTION', () => overridden({ limits: [5] })],
  ['an override loader that is not a function', 'SLUICE_BAD_OPTION', () => overridden({ load: { acme: 5 } })],
  ['other keys that are denied', 'SLUICE_BAD_OPTION', () => overridden({ limits: {}, others: 'deny' })],
  ['overrides not created by limitOverrides', 'SLUICE_BAD_OPTION', () => one({ overrides: { acme: 5 } })],
  ['an override of 0', 'SLUICE_BAD_LIMIT', () => overridden({ limits: { acme: 0 } })],
  [
    'overrides loaded every half second',
    'SLUICE_BAD_DURATION',
    () => overridden({ load: () => ({}), refreshMs: '500ms' }),
  ],
  ['a limit of NaN', 'SLUICE_BAD_LIMIT', () => one({ limit: Number.NaN })],
  ['no limit', 'SLUICE_BAD_LIMIT', () => rate({ window: '1m' })],
  ['a limit too large for a header', 'SLUICE_BAD_LIMIT', () => one({ limit: 1e15 })],
  ['a burst of 0', 'SLUICE_BAD_LIMIT', () => one({ algorithm: 'gcra', burst: 0 })],
  ['a cap of 1.5', 'SLUICE_BAD_LIMIT', () => cap({ limit: 1.5 })],
  ['a weight of 0', 'SLUICE_BAD_LIMIT', () => cap({ limit: 1, weight: 0 })],
  ['a weight above the limit', 'SLUICE_BAD_LIMIT', () => cap({ limit: 4, weight: 5 })],
  ['60 for 60 s', 'SLUICE_BAD_DURATION', () => one({ window: 60 })],
  ['a window that is not a duration', 'SLUICE_BAD_DURATION', () => one({ window: '1 minute' })],
  ['no window', 'SLUICE_BAD_DURATION', () => rate({ limit: 100 })],
  ['an endless window', 'SLUICE_BAD_DURATION', () => one({ window: Number.POSITIVE_INFINITY })],
  ['-60 for maxHoldMs', 'SLUICE_BAD_DURATION', () => cap({ limit: 1, maxHoldMs: -60 })],
  ['0 for maxHoldMs', 'SLUICE_BAD_DURATION', () => cap({ limit: 1, maxHoldMs: 0 })],
  ["retry: 'booked' on a sketch", 'SLUICE_BAD_OPTION', () => one({ retry: 'booked', backend: sketchBackend() })],
  ['an unknown retry', 'SLUICE_BAD_OPTION', () => one({ retry: 'soon' })],
  ['a name with an umlaut', 'SLUICE_BAD_NAME', () => one({ name: 'bücher' })],
  ['a name that would inject a header', 'SLUICE_BAD_NAME', () => one({ name: 'a\r\nSet-Cookie: x' })],
  ['a unit that would inject a header', 'SLUICE_BAD_NAME', () => one({ unit: 'a\r\nb' })],
  ['an empty name of a cap', 'SLUICE_BAD_NAME', () => cap({ limit: 1, name: '' })],
  ['a reserved scope', 'SLUICE_BAD_NAME', () => one({ scope: '#1' })],
  ['an empty path of a policy file', 'SLUICE_BAD_OPTION', () => fileSource('')],
  ['an empty path of a list', 'SLUICE_BAD_OPTION', () => listFile('')],
  ['policies at an ftp: URL', 'SLUICE_BAD_OPTION', () => urlSource('ftp://example.com/policies.yaml')],
  [
    'a header with a line break',
    'SLUICE_BAD_OPTION',
    () => urlSource('http://localhost/', { headers: { 'x-a': 'a\nb' } }),
  ],
  ['a time-out of 0', 'SLUICE_BAD_DURATION', () => urlSource('http://localhost/', { timeoutMs: 0 })],
  ['policies in an unknown client', 'SLUICE_BAD_OPTION', () => (redisSource as Untyped)({}, 'policies')],
  ['policies in a table with a quote', 'SLUICE_BAD_OPTION', () => postgresSource(sql, { table: 'a"b' })],
  ['a value in a policy file', 'SLUICE_BAD_POLICY_FILE', () => parsePolicies(WORDY, 'policies.yaml')],
  ['an API description of another format', 'SLUICE_BAD_DESCRIPTION', () => limited('openapi: 2.0\n')],
  ['a number of processes of policies', 'SLUICE_BAD_OPTION', () => checkPolicies(SMALL, { processes: 0 })],
  ['a tick of policies', 'SLUICE_BAD_OPTION', () => checkPolicies(SMALL, { syncTickMs: 1 })],
  ['an unknown algorithm', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'leaky-bucket' })],
  ['burst with an algorithm without bursts', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'fixed-window', burst: 2 })],
  ['slices with an algorithm without slices', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'gcra', slices: 2 })],
  ['61 slices', 'SLUICE_BAD_POLICY', () => one({ slices: 61 })],
  ['a long sliding log', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'sliding-log', limit: 129 })],
  ['a calendar in memory', 'SLUICE_BAD_POLICY', () => one({ calendar: { per: 'month', timeZone: 'UTC' } })],
  [
    'a calendar in an unknown time zone',
    'SLUICE_BAD_POLICY',
    () => one({ calendar: { per: 'month', timeZone: 'Mars' } }),
  ],
  ['a calendar of years', 'SLUICE_BAD_OPTION', () => one({ calendar: { per: 'year', timeZone: 'UTC' } })],
  [
    'a month from day 32 on',
    'SLUICE_BAD_POLICY',
    () => one({ calendar: { per: 'month', timeZone: 'UTC', anchor: 32 } }),
  ],
  ['gcra below 1 ms a unit', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'gcra', limit: 100_000 })],
  ['a negative cost', 'SLUICE_BAD_COST', () => one({ cost: -1 })],
  ['a cost of NaN', 'SLUICE_BAD_COST', () => one({ cost: Number.NaN })],
  ['reserve without settle', 'SLUICE_BAD_COST', () => one({ cost: { reserve: 1 } })],
  ['a cost of 0', 'SLUICE_BAD_COST', () => one({ cost: 0 })],
  ['a cost above the limit', 'SLUICE_BAD_COST', () => one({ cost: 101 })],
  ['a reservation of 0', 'SLUICE_BAD_COST', () => one({ cost: { reserve: 0, settle: none } })],
  ['a message that is a number', 'SLUICE_BAD_OPTION', () => one({ message: 5 as never })],
  ['a message beside denied', 'SLUICE_BAD_OPTION', () => one({ message: 'no', denied: none })],
  ['an unknown countOnly', 'SLUICE_BAD_OPTION', () => one({ countOnly: 'errors' as never })],
  [
    'countOnly beside settle',
    'SLUICE_BAD_OPTION',
    () => one({ countOnly: 'failures', cost: { reserve: 1, settle: none } }),
  ],
  ['extend without maxHoldMs', 'SLUICE_BAD_OPTION', () => one({ cost: { reserve: 1, extend: 'stream' } })],
  ['an unknown extend', 'SLUICE_BAD_OPTION', () => one({ cost: { reserve: 1, settle: none, extend: 'always' } })],
  ['extendBy without extend', 'SLUICE_BAD_OPTION', () => one({ cost: { reserve: 1, settle: none, extendBy: 5 } })],
  ['an unknown onExhausted', 'SLUICE_BAD_OPTION', () => one({ ...held, cost: { ...streamed, onExhausted: 'stop' } })],
  ['an extendBy of 0', 'SLUICE_BAD_OPTION', () => one({ ...held, cost: { ...streamed, extendBy: 0 } })],
  ['an unknown settleOn', 'SLUICE_BAD_OPTION', () => one({ cost: { reserve: 1, settle: none, settleOn: 'end' } })],
  ['no options', 'SLUICE_BAD_OPTION', () => rate()],
  ['an option of another limiter', 'SLUICE_BAD_OPTION', () => one({ max: 100 })],
  ['no policies', 'SLUICE_BAD_OPTION', () => rate({ policies: [] })],
  ['policies and a policy', 'SLUICE_BAD_OPTION', () => one({ policies: [policy] })],
  ['plans without a plan', 'SLUICE_BAD_OPTION', () => rate({ plans: { free: [policy] } })],
  ['a plan that is not a function', 'SLUICE_BAD_OPTION', () => rate({ plans: { free: [policy] }, plan: 'free' })],
  ['no plans', 'SLUICE_BAD_OPTION', () => rate({ plans: {}, plan: none })],
  ['an unknown mode of a policy', 'SLUICE_BAD_OPTION', () => rate({ policies: [{ ...policy, mode: 'on' }] })],
  ['an unknown mode of a cap', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, mode: 'on' })],
  ['an unknown dialect', 'SLUICE_BAD_OPTION', () => one({ headers: 'draft-7' })],
  ['an empty list of dialects', 'SLUICE_BAD_OPTION', () => one({ headers: [] })],
  ['legacy.reset in ISO', 'SLUICE_BAD_OPTION', () => one({ headers: 'legacy', legacy: { reset: 'iso' } })],
  ['an unknown headersOn', 'SLUICE_BAD_OPTION', () => one({ headersOn: 'never' })],
  ['an empty secret', 'SLUICE_BAD_OPTION', () => one({ partitionKey: { secret: '' } })],
  ['a denial with status 200', 'SLUICE_BAD_OPTION', () => one({ status: 200 })],
  ['a denial of a cap with status 200', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, status: 200 })],
  ['observers that are not an array', 'SLUICE_BAD_OPTION', () => one({ observers: {} })],
  ['a key that is not a function', 'SLUICE_BAD_OPTION', () => one({ key: 'ip' })],
  ['an invalid backend', 'SLUICE_BAD_OPTION', () => one({ backend: {} })],
  ['an unknown holdUntil', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, holdUntil: 'end' })],
  ['a limiter without policies', 'SLUICE_BAD_OPTION', () => limiter({ backend: memoryBackend() })],
  ['a cap without a limit', 'SLUICE_BAD_LIMIT', () => (createInflightLimiter as Untyped)({})],
  ['too little memory', 'SLUICE_BAD_OPTION', () => memoryBackend({ maxBytes: 1000 })],
  ['a memory size that is a string', 'SLUICE_BAD_OPTION', () => (memoryBackend as Untyped)({ maxBytes: '64MB' })],
  ['logins with a short secret', 'SLUICE_BAD_OPTION', () => protectLogin({ secret: 'short' })],
  ['logins without a secret in the list', 'SLUICE_BAD_OPTION', () => protectLogin({ secret: [] })],
  ['logins that admit no failure', 'SLUICE_BAD_OPTION', () => login({ device: { limit: 0, window: '1h' } })],
  ['logins in no window', 'SLUICE_BAD_DURATION', () => login({ account: { deny: { limit: 1, window: 5 } } })],
  ['logins with a challenge of 25 bits', 'SLUICE_BAD_OPTION', () => login({ challenge: { bits: 25 } })],
  ['logins whose failures are all usual', 'SLUICE_BAD_OPTION', () => login({ usualFailures: 2 })],
  ['logins from a network that is no range', 'SLUICE_BAD_OPTION', () => login({ networks: ['10.0.0.1/8'] })],
  ['logins from a network of one host', 'SLUICE_BAD_OPTION', () => login({ networks: ['2001:db8::/64'] })],
  ['logins with a name on two lines', 'SLUICE_BAD_NAME', () => login({ name: 'a\nb' })],
  ['a check that is not a function', 'SLUICE_BAD_OPTION', () => login({ challenge: { check: true } })],
  ['tasks with a short secret', 'SLUICE_BAD_OPTION', () => proofOfWork({ secret: 'short' })],
  ['tasks that become easier', 'SLUICE_BAD_OPTION', () => work({ bits: 12, maxBits: 11 })],
  ['tasks that are valid for ever', 'SLUICE_BAD_DURATION', () => work({ ttl: '25d' })],
  ['tasks with a name on two lines', 'SLUICE_BAD_NAME', () => work({ name: 'a\nb' })],
  ['devices known for two years', 'SLUICE_BAD_OPTION', () => login({ deviceTtl: '732d' })],
  ['a prefix of 129 bits', 'SLUICE_BAD_OPTION', () => byIp({ ipv6Prefix: 129 })],
  ['a header name with a space', 'SLUICE_BAD_OPTION', () => byHeader('x api')],
  ['an unknown value of missing', 'SLUICE_BAD_OPTION', () => (byHeader as Untyped)('x-api-key', { missing: 'pass' })],
  ['a principal that is not a function', 'SLUICE_BAD_OPTION', () => (byPrincipal as Untyped)('user')],
  ['byAll without sources', 'SLUICE_BAD_OPTION', () => byAll()],
  ['an unknown option of createSluice', 'SLUICE_BAD_OPTION', () => (createSluice as Untyped)({ redis: {} })],
  ['two policies of one name', 'SLUICE_DUPLICATE_POLICY', () => rate({ policies: [policy, policy] })],
  ['one name with different options on one backend', 'SLUICE_DUPLICATE_POLICY', sameNameTwice],
  ['two limiters without a name on one backend', 'SLUICE_UNNAMED_LIMITER', unnamedTwice],
  ['shared that is not a boolean', 'SLUICE_BAD_OPTION', () => one({ shared: 'yes' })],
  ['a seed of 4 bytes', 'SLUICE_BAD_SEED', () => createKeyedHash(new Uint8Array(4))],
  ['an unknown mode of a limiter', 'SLUICE_BAD_OPTION', () => one({ mode: 'on' })],
  ['skip that is not a function', 'SLUICE_BAD_OPTION', () => one({ skip: true })],
  ['denied that is not a function', 'SLUICE_BAD_OPTION', () => one({ denied: 'no' })],
  ['an invalid clock', 'SLUICE_BAD_OPTION', () => one({ clock: {} })],
  ['next that is not a boolean', 'SLUICE_BAD_OPTION', () => one({ next: 'yes' })],
  ['legacy.reset in ISO, headers of the draft', 'SLUICE_BAD_OPTION', () => one({ legacy: { reset: 'iso' } })],
  ['a policy that is null', 'SLUICE_BAD_OPTION', () => rate({ policies: [null] })],
  ['a plan without an array of policies', 'SLUICE_BAD_OPTION', () => rate({ plans: { free: policy }, plan: none })],
  ['a key of a cap that is not a function', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, key: 'ip' })],
  ['skip of a cap that is not a function', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, skip: true })],
  ['denied of a cap that is not a function', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, denied: 'no' })],
  ['an invalid backend of a cap', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, backend: {} })],
  ['an invalid clock of a cap', 'SLUICE_BAD_OPTION', () => cap({ limit: 1, clock: {} })],
  ['invalid observers of createSluice', 'SLUICE_BAD_OPTION', () => (createSluice as Untyped)({ observers: 5 })],
  ['hashing of all keys without a secret', 'SLUICE_SECRET_MISSING', () => redisBackend(runner, { hashKeys: 'all' })],
  ['a url of Redis without its scheme', 'SLUICE_BAD_OPTION', () => createRedis('localhost:6379')],
  ['a cluster without nodes', 'SLUICE_BAD_OPTION', () => createRedisCluster([])],
  ['an unknown option of a channel', 'SLUICE_BAD_OPTION', () => (redisChannel as Untyped)(runner, { tick: 5 })],
  ['an invalid client of a channel', 'SLUICE_BAD_OPTION', () => (redisChannel as Untyped)({})],
  ['sums with braces in the name', 'SLUICE_BAD_MESSAGE', () => redisSums(runner, { name: '{hits}' })],
  ['a list without its exact stage', 'SLUICE_BAD_OPTION', () => (blockList as Untyped)({ capacity: 10 })],
  ['gcra on a sketch', 'SLUICE_BAD_POLICY', () => one({ algorithm: 'gcra', backend: sketchBackend() })],
  ['a sketch without a width', 'SLUICE_BAD_OPTION', () => new CountMin({ depth: 4 } as never)],
  ['a seed of a sketch that is a string', 'SLUICE_BAD_SEED', () => new SketchSeed('secret')],
  ['a ring without servers', 'SLUICE_BAD_OPTION', () => new HashRing([])],
  ['a ring with a server twice', 'SLUICE_BAD_OPTION', () => new HashRing(['a', 'b', 'a'])],
  ['a metric with a dash', 'SLUICE_BAD_OPTION', () => new CounterMetric({ name: 'a-b', help: '' })],
  [
    'a label of Prometheus',
    'SLUICE_BAD_OPTION',
    () => new CounterMetric({ name: 'a', help: '', labels: ['__name__'] }),
  ],
  ['no series', 'SLUICE_BAD_OPTION', () => new CounterMetric({ name: 'a', help: '', maxSeries: 0 })],
  [
    'buckets in decreasing order',
    'SLUICE_BAD_OPTION',
    () => new HistogramMetric({ name: 'a', help: '', buckets: [2, 1] }),
  ],
  ['half a node', 'SLUICE_BAD_OPTION', () => new HashRing(['a'], { nodes: 0.5 })],
  [
    'uniques before a ledger without sketches',
    'SLUICE_BAD_OPTION',
    () => (uniqueCounters as Untyped)({ ledger: { open } }),
  ],
  ['uniques with a string as seed', 'SLUICE_BAD_SEED', () => uniqueCounters({ seed: 'secret' })],
  ['uniques kept for less than a day', 'SLUICE_BAD_OPTION', () => uniqueCounters({ days: 0 })],
  ['digests with an invalid waiting limit', 'SLUICE_BAD_OPTION', () => digestCounters({ maxWaiting: 0 })],
  ['digests with an invalid compression', 'SLUICE_BAD_OPTION', () => digestCounters({ compression: 5 })],
  ['an unknown option of digests', 'SLUICE_BAD_OPTION', () => (digestCounters as Untyped)({ precision: 14 })],
  ['bytes that are not a sketch', 'SLUICE_BAD_BYTES', () => CountMin.fromBytes(new Uint8Array(100))],
  [
    'a fleet sketch without a topic',
    'SLUICE_BAD_MESSAGE',
    () => (shareSketch as Untyped)(redisChannel(runner), sharing),
  ],
]
