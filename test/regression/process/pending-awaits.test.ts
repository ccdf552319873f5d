import { describe, expect, test } from '@jest/globals'
import { endOf, type Format } from '../../services/processes/node-script.ts'

const FORMATS: readonly Format[] = ['cjs', 'esm']
const CORE = { core: '@sluice/limiter-core' }
const REDIS = { ...CORE, redis: '@sluice/redis' }
const UNIQUES = { uniques: '@sluice/redis/uniques' }
const SILENT = 'const silent = () => new Promise(() => {})'
const SILENT_BACKEND = `${SILENT}
const counter = (compiled, name) => ({ compiled, name, take: silent })
const backend = { name: 'silent', open: counter, takeAll: silent, peekAll: silent, adjustAll: silent, resetAll: silent }`

interface Script {
  readonly modules: Readonly<Record<string, string>>
  readonly script: string
}

/** Each script ends with an await that only a timer of ours can settle. */
const AWAITED: Readonly<Record<string, Script>> = {
  'waitFor, with a limit in memory': {
    modules: CORE,
    script: `const limiter = core.createLimiter({ policies: [{ limit: 1, window: '100ms', algorithm: 'fixed-window' }] })
    limiter.take('user')
    await core.waitFor(limiter, 'user', { maxWaitMs: '5s' })`,
  },
  'every call of a limiter whose backend does not answer': {
    modules: CORE,
    script: `${SILENT_BACKEND}
    const limiter = core.createLimiter({ policies: [{ limit: 1, window: '1m' }], backend })
    await limiter.take('user')
    await limiter.peek('user')
    await limiter.charge('user', 1)
    await limiter.reset('user')`,
  },
  'a request that slowDown delays, in an application without a socket': {
    modules: { fastify: 'fastify', sluice: '@sluice/fastify' },
    script: `const app = fastify.fastify()
    await app.register(sluice.sluice, { slowDown: { after: 0, window: '1m', delayMs: 100, maxDelayMs: 100 } })
    app.get('/', async () => 'ok')
    await app.inject('/')`,
  },
  'closing leases whose ledger does not answer': {
    modules: REDIS,
    script: `${SILENT}
    const backend = redis.leasedBackend({ run: silent })
    const limiter = core.createLimiter({ policies: [{ limit: 100, window: '1m' }], backend })
    await limiter.take('user')
    await backend.close()`,
  },
  'closing a channel whose Redis does not answer': {
    modules: REDIS,
    script: `${SILENT}
    const channel = redis.redisChannel({ run: silent }, { closeMs: 100 })
    channel.publish('topic', Buffer.from('bytes'))
    await channel.close()`,
  },
  'closing sums and uniques whose Redis does not answer': {
    modules: { ...REDIS, ...UNIQUES },
    script: `${SILENT}
    const sums = redis.redisSums({ run: silent }, { name: 'sums', closeMs: 100 })
    sums.add('one')
    await sums.close()
    const clients = uniques.redisUniques({ run: silent }, { name: 'uniques', closeMs: 100 })
    clients.add('one')
    await clients.close()`,
  },
  'every call of a cap on a Redis that does not answer': {
    modules: REDIS,
    script: `${SILENT}
    const backend = redis.redisInflight({ run: silent })
    const cap = core.createInflightLimiter({ limit: 2, backend })
    await cap.acquire('user')
    await cap.count('user')
    await backend.close()`,
  },
  'a list whose database does not answer': {
    modules: { limits: '@sluice/sketches/limits' },
    script: `${SILENT}
    const blocked = limits.blockList({ capacity: 10, exact: silent })
    blocked.add('user')
    await blocked.has('user')`,
  },
  'a change of an operator whose store does not answer': {
    modules: { own: '@sluice/insight' },
    script: `${SILENT}
    const store = { put: silent, all: silent }
    const insight = own.createInsight({ secret: 'a secret of all processes', control: { store } })
    const { id } = await insight.control({ action: 'block', key: 'user' })
    await insight.undo(id)
    await insight.close()`,
  },
  'policies in databases that do not answer': {
    modules: { own: '@sluice/policies' },
    script: `${SILENT}
    const text = 'version: 1\\npolicies: [{ name: api, limit: 1, per: 1m }]'
    const client = { hmget: silent, eval: silent }
    for (const source of [
      own.postgresSource({ query: silent }, { timeoutMs: 100 }),
      own.redisSource(client, 'policies', { timeoutMs: 100 }),
    ]) {
      await own.loadPolicies(source).catch(() => {})
      await source.publish(text).catch(() => {})
    }`,
  },
  'a worker of a cluster whose primary does not listen': {
    modules: { ...CORE, own: '@sluice/fleet', cluster: 'node:cluster' },
    script: `const { default: workers = cluster } = cluster
    if (workers.isWorker) {
      const limiter = core.createLimiter({ policies: [{ limit: 1, window: '1m' }], backend: own.clusterBackend() })
      const taking = limiter.take('user')
      workers.worker.disconnect()
      await taking
      // the primary says that it is done
      process.exit(7)
    }
    const worker = workers.fork()
    const code = await new Promise((ended) => worker.once('exit', ended))
    if (code !== 7) throw new Error('the worker ended with ' + code)`,
  },
}

/** Each script leaves resources open, and awaits nothing at its end. */
const UNAWAITED: Readonly<Record<string, Script>> = {
  'a take that was answered long before its deadline': {
    modules: CORE,
    script: `const memory = core.memoryBackend()
    const takeAll = async (charges, moment) => memory.takeAll(charges, moment)
    const open = (compiled, name) => {
      const counter = memory.open(compiled, name)
      return Object.create(counter, { take: { value: async (...asked) => counter.take(...asked) } })
    }
    const backend = { name: 'late', open, takeAll, peekAll: takeAll, adjustAll: takeAll, resetAll: takeAll }
    const limiter = core.createLimiter({ policies: [{ limit: 1, window: '1m' }], backend, deadlineMs: '60s' })
    await limiter.take('user')`,
  },
  'a wait that was cancelled': {
    modules: CORE,
    script: `const limiter = core.createLimiter({ policies: [{ limit: 1, window: '1h' }] })
    limiter.take('user')
    const given = new AbortController()
    const waited = core.waitFor(limiter, 'user', { maxWaitMs: '1d', signal: given.signal }).catch(() => {})
    setImmediate(() => given.abort())
    await waited`,
  },
  'a permit with a time limit': {
    modules: CORE,
    script: `core.createInflightLimiter({ limit: 1, maxHoldMs: '1h' }).acquire('user')`,
  },
  'leases, a channel, sums, uniques and permits in Redis': {
    modules: { ...REDIS, ...UNIQUES },
    script: `const run = async () => { throw new Error('nobody is there') }
    const limiter = core.createLimiter({
      policies: [{ limit: 100, window: '1m' }],
      backend: redis.leasedBackend({ run }),
    })
    await limiter.take('user')
    redis.redisChannel({ run }, { tickMs: 5 }).subscribe('topic', () => {})
    redis.redisSums({ run }, { name: 'sums', tickMs: 5 }).add('one')
    uniques.redisUniques({ run }, { name: 'uniques', tickMs: 5 }).add('one')
    const cap = core.createInflightLimiter({ limit: 2, backend: redis.redisInflight({ run }) })
    await cap.acquire('user')`,
  },
}

/** The scripts as CommonJS; as ES modules, whose top-level await Node treats differently, some of them. */
const someOf = (scripts: Readonly<Record<string, Script>>, format: Format) =>
  Object.entries(scripts).slice(0, format === 'esm' ? 2 : undefined)

describe.each(FORMATS)('a script in %s', (format) => {
  test.concurrent.each(someOf(AWAITED, format))(
    'ends when its await settles: %s',
    async (_what, { modules, script }) => {
      const { code, stdout, stderr } = await endOf(format, { modules, script: `${script}\nconsole.log('done')` })
      expect({ code, stdout, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
    },
  )

  test.concurrent.each(someOf(UNAWAITED, format))(
    'ends even if it left open: %s',
    async (_what, { modules, script }) => {
      const { code, stdout } = await endOf(format, { modules, script: `${script}\nconsole.log('done')` })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' })
    },
  )
})
