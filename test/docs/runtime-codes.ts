import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Backend,
  createInflightLimiter,
  createLimiter,
  limitOverrides,
  memoryBackend,
  type RequestSluice,
  rateLimit,
} from '@sluice/express'
import { sluice } from '@sluice/fastify'
import type { ScriptRunner } from '@sluice/limiter-core/backend'
import { systemClock } from '@sluice/limiter-core/http'
import { adaptiveThrottle } from '@sluice/overload'
import { fileSource, policies } from '@sluice/policies'
import { redisBackend } from '@sluice/redis'
import { CountMin } from '@sluice/sketches'
import { shareSketch } from '@sluice/sketches/fleet'
import { FakeClock, failingBackend, openedCounter } from '@sluice/testkit'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { fastify } from 'fastify'
import request from 'supertest'
import { frontBackend } from '../contracts/front-backend.ts'
import { TextSource } from '../policies/text-source.ts'
import { Hub } from '../sketches/fleet/hub.ts'

/** Response as the client saw it: the status, and whether the request was counted. */
interface Seen {
  readonly status: number
  readonly counted: boolean
}

/** A code reported while requests are handled: causes it, and returns the responses. */
export type RuntimeCode = readonly [code: string, provoke: () => Promise<readonly Seen[]>]

const policy = { limit: 100, window: '1m' } as const
type Untyped = (value: unknown) => unknown

/** Sends requests to an app with one middleware and a handler that responds "ok". */
async function statuses(middleware: RequestHandler[], headers: Record<string, string> = {}, times = 1) {
  const app = express()
  return send(app, middleware, headers, times)
}

async function send(app: Express, middleware: RequestHandler[], headers: Record<string, string> = {}, times = 1) {
  app.get('/', ...middleware, (_req, res) => {
    res.send('ok')
  })
  const seen: Seen[] = []
  for (let sent = 0; sent < times; sent++) seen.push(seenIn(await request(app).get('/').set(headers)))
  return seen
}

/** Clients of a proxy that is not trusted. */
async function behindOneAddress() {
  const app = express()
  app.get('/', rateLimit({ ...policy, limit: 100 }), (_req, res) => {
    res.send('ok')
  })
  const seen: Seen[] = []
  for (let client = 1; client <= 60; client++) {
    seen.push(seenIn(await request(app).get('/').set('x-forwarded-for', `198.51.100.${client}`)))
  }
  return seen
}

/** Creates a limiter when the published addresses of proxies have become old. */
async function inTwoYears(create: () => RequestHandler) {
  const { wall } = systemClock
  systemClock.wall = () => wall() + 2 * 365 * 86_400_000
  try {
    return await statuses([create()])
  } finally {
    systemClock.wall = wall
  }
}

function seenIn({ status, headers }: request.Response): Seen {
  return { status, counted: headers.ratelimit !== undefined }
}

/** A denied request whose response was started by middleware in front of the limiter, and is aborted. */
async function startedInFront() {
  const starting: RequestHandler = (_req, res, next) => {
    res.flushHeaders()
    next()
  }
  await statuses([starting, named({ cost: () => 200 })]).catch(() => {})
  return []
}

const withoutAddress: RequestHandler = (req, _res, next) => {
  Object.defineProperty(req.socket, 'remoteAddress', { value: undefined })
  next()
}

const trusting: RequestHandler = (req, _res, next) => {
  req.app.set('trust proxy', true)
  next()
}

let made = 0

/** A limiter with a unique name, since each name warns separately. The first one is `api`. */
function named(more: object = {}): RequestHandler {
  return rateLimit({ ...policy, ...more, name: newName() })
}

function ofPlans(): RequestHandler {
  return rateLimit({ plans: { free: [{ ...policy, name: newName() }] }, plan: () => 'gold' as never })
}

function newName(): string {
  return `api ${++made}`
}

async function withoutOverrides(): Promise<readonly Seen[]> {
  const load = (): never => {
    throw new Error(`no table of ${newName()}`)
  }
  const overrides = limitOverrides({ load, clock: new FakeClock() })
  return statuses([named({ overrides })])
}

async function withBadDocument(): Promise<readonly Seen[]> {
  const source = new TextSource('{ "version": 1, "policies": [{ "name": "all", "limit": 1, "per": "1m" }] }')
  const options = policies<Request, Response>(source)
  source.text = JSON.stringify({ version: 1, policies: newName() })
  await options.policies.reload()
  return statuses([rateLimit(options)])
}

async function withBadList(): Promise<readonly Seen[]> {
  const file = `${newName()}.txt`
  const folder = mkdtempSync(join(tmpdir(), 'sluice-list-'))
  writeFileSync(join(folder, file), '10.0.0.0/33\n')
  const policy = { name: 'all', limit: 1, per: '1m' }
  const text = JSON.stringify({ version: 1, policies: [policy], lists: { block: { file } } })
  return statuses([rateLimit(policies<Request, Response>(Object.assign(new TextSource(text), { folder })))])
}

async function inFrontOfRouter(): Promise<readonly Seen[]> {
  const policy = { name: newName().replace(' ', '-'), limit: 1_000, per: '1m', match: { route: 'GET /search' } }
  const limit = rateLimit(
    policies<Request, Response>(new TextSource(JSON.stringify({ version: 1, policies: [policy] }))),
  )
  const app = express().use(limit, (_req, res) => void res.send('ok'))
  for (let sent = 0; sent < 100; sent++) await request(app).get('/search')
  return []
}

async function sharedCount(): Promise<readonly Seen[]> {
  const options = { ...policy, name: newName(), backend: memoryBackend() }
  return statuses([rateLimit(options), rateLimit(options)])
}

/** A fresh backend, used by no other test. */
function dead(): Backend {
  return failingBackend(() => Promise.reject(new Error('nobody is there')))
}

/** A Redis client that reports a policy that evicts keys, signals the request, and then never responds. */
const evicting: ScriptRunner = {
  run: async ({ name }) => {
    if (name === 'server-time') return ['1700000000', '0', 'allkeys-lru']
    throw new Error('nobody is there')
  },
}

/** Ten failures, a probe after a second, then a trial request. */
async function backAgain(): Promise<readonly Seen[]> {
  const clock = new FakeClock()
  let isBack = false
  const backend = frontBackend('dead', memoryBackend({ clock }), async (ask) => {
    if (!isBack) throw new Error('nobody is there')
    return ask()
  })
  const limiter = createLimiter({ policies: [policy], backend, clock })
  for (let failed = 0; failed < 10; failed++) await limiter.take('anna')
  isBack = true
  clock.advance(1_000)
  await limiter.take('anna')
  await new Promise(setImmediate)
  await limiter.take('anna')
  return []
}

async function underPm2(): Promise<readonly Seen[]> {
  process.env.pm_id = '3'
  try {
    return await statuses([named()])
  } finally {
    delete process.env.pm_id
  }
}

function trustingAnyone(): Promise<readonly Seen[]> {
  const app = express()
  app.set('trust proxy', true)
  return send(app, [rateLimit(policy)], { 'x-forwarded-for': '198.51.100.7' })
}

async function trustingNobody(): Promise<readonly Seen[]> {
  const app = fastify({ trustProxy: 1 as unknown as string })
  await app.register(sluice, { rateLimit: policy })
  app.get('/', async () => 'ok')
  const { statusCode, headers } = await app.inject('/')
  await app.close()
  return [{ status: statusCode, counted: headers.ratelimit !== undefined }]
}

async function handedOn(): Promise<readonly Seen[]> {
  const app = express()
  app.use(rateLimit({ limit: 1, window: '1m', next: true }))
  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    process.emitWarning(error.message, { code: error.code })
    res.sendStatus(error.status)
  }
  const seen = await send(app, [], {}, 1)
  app.use(onError)
  return [...seen, seenIn(await request(app).get('/'))]
}

const thrown = (run: () => unknown): Promise<readonly Seen[]> => {
  try {
    run()
  } catch (error) {
    process.emitWarning((error as Error).message, { code: (error as { code: string }).code })
  }
  return Promise.resolve([])
}

/** Sends two requests to an upstream that asks for none after the first. */
const throttledRequest = async (): Promise<readonly Seen[]> => {
  const busy = async (_url: string): Promise<globalThis.Response> =>
    new globalThis.Response(null, { status: 429, headers: { 'retry-after': '5' } })
  const fetch = adaptiveThrottle(busy, { clock: new FakeClock(), retries: 0 })
  await fetch('https://api.example.com/')
  const error: unknown = await fetch('https://api.example.com/').catch((thrown: unknown) => thrown)
  return thrown(() => {
    throw error
  })
}

const small = { width: 8, depth: 2 }

/** A process whose counter shape differs from that of another process. */
async function unreadSketch(): Promise<readonly Seen[]> {
  const hub = new Hub()
  const members = [2, 3].map((depth) =>
    shareSketch(hub.join(), {
      topic: 'talkers',
      clock: new FakeClock(),
      make: () => new CountMin({ ...small, depth }),
      read: (bytes) => CountMin.fromBytes(bytes),
    }),
  )
  members[1].own.add('anna')
  await members[1].flush()
  await hub.settled()
  await Promise.all(members.map((member) => member.close()))
  return []
}

const throwing = (): number => {
  throw new Error('no body yet')
}

/** A runner of an undeclared cluster: calls with keys of two slots are rejected, and retried slot by slot. */
async function ofClusterUnsaid(): Promise<readonly Seen[]> {
  const run: ScriptRunner['run'] = (_script, keys) =>
    new Set(keys).size > 1
      ? Promise.reject(new Error("CROSSSLOT Keys in request don't hash to the same slot"))
      : Promise.resolve(`1000:0${' 4 0 60000 60000'.repeat(keys.length)}`)
  const backend = redisBackend({ run })
  const five = { name: 'five', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 } as const
  const counter = openedCounter(backend, 'test', five)
  const takes = ['a', 'b', 'c'].map((key) => backend.takeAll([{ key, counter, cost: 1 }]))
  const answers = await Promise.all(takes)
  await backend.close?.()
  return answers.map(({ counted }) => ({ status: 200, counted }))
}

export const runtimeCodes: readonly RuntimeCode[] = [
  ['SLUICE_HOOK_FAILED', () => statuses([named({ cost: throwing })])],
  ['SLUICE_HOOK_FAILED', () => statuses([named({ limit: 1, message: throwing })], {}, 2)],
  ['SLUICE_UNKNOWN_PLAN', () => statuses([ofPlans()])],
  ['SLUICE_KEY_FALLBACK', () => statuses([named({ key: () => undefined })])],
  ['SLUICE_NO_ADDRESS', () => statuses([withoutAddress, named()])],
  ['SLUICE_BAD_ADDRESS', () => statuses([trusting, named()], { 'x-forwarded-for': 'unknown' })],
  ['SLUICE_FORWARDED_IGNORED', () => statuses([named()], { forwarded: 'for=198.51.100.7' })],
  ['SLUICE_FULL_ADDRESS_KEY', () => statuses([named({ key: () => '2001:db8::7' })])],
  ['SLUICE_SHARED_COUNT', sharedCount],
  ['SLUICE_UNTRUSTED_PROXY', () => statuses([rateLimit(policy)], { 'x-forwarded-for': '198.51.100.7' })],
  ['SLUICE_TRUSTS_ALL_PROXIES', trustingAnyone],
  ['SLUICE_TRUSTS_NO_PROXY', trustingNobody],
  ['SLUICE_CLIENTS_COLLAPSED', behindOneAddress],
  ['SLUICE_PROXY_NAMES_NO_CLIENT', () => statuses([rateLimit({ ...policy, trust: 'nginx' })], {}, 41)],
  ['SLUICE_OLD_PROXY_RANGES', () => inTwoYears(() => rateLimit({ ...policy, trust: 'cloudflare' }))],
  ['SLUICE_LIMITER_IN_HANDLER', () => statuses([(req, res, next) => rateLimit(policy)(req, res, next)], {}, 2)],
  ['SLUICE_LIMITER_TWICE', () => statuses(Array(2).fill(named()))],
  ['SLUICE_RESPONSE_STARTED', startedInFront],
  ['SLUICE_BACKEND_FAILED', () => statuses([rateLimit({ ...policy, backend: dead() })])],
  ['SLUICE_BACKEND_RECOVERED', backAgain],
  ['SLUICE_MEMORY_IN_CLUSTER', underPm2],
  ['SLUICE_OVERRIDES_STALE', withoutOverrides],
  ['SLUICE_POLICIES_STALE', withBadDocument],
  ['SLUICE_BAD_LIST', withBadList],
  ['SLUICE_NO_ROUTE', inFrontOfRouter],
  ['SLUICE_REDIS_EVICTION', () => statuses([rateLimit({ ...policy, backend: redisBackend(evicting) })])],
  ['SLUICE_CLUSTER_RUNNER', ofClusterUnsaid],
  ['SLUICE_OBSERVER_DROPPED', () => statuses([named({ observers: [{ decided: throwing }] })])],
  [
    'SLUICE_UNKNOWN_POLICY',
    () => {
      const charging: RequestHandler = (req, _res, next) => {
        const sluice = req.sluice as RequestSluice
        sluice.charge(3, 'tokens')
        next()
      }
      return statuses([named(), charging])
    },
  ],
  ['SLUICE_DENIED', handedOn],
  ['SLUICE_THROTTLED', throttledRequest],
  ['SLUICE_BAD_KEY', () => thrown(() => (createInflightLimiter({ limit: 1 }).acquire as Untyped)(17))],
  ['SLUICE_BAD_COST', () => thrown(() => createLimiter({ policies: [policy] }).take('anna', -1))],
  ['SLUICE_POLICIES_UNREADABLE', () => thrown(() => fileSource('policies.yaml').readSync())],
  ['SLUICE_BAD_AMOUNT', () => thrown(() => new CountMin(small).add('anna', Number.NaN))],
  ['SLUICE_SKETCH_MISMATCH', () => thrown(() => new CountMin(small).merge(new CountMin({ width: 8, depth: 3 })))],
  ['SLUICE_SKETCH_UNSUPPORTED', () => thrown(() => new CountMin({ ...small, conservative: true }).remove('anna'))],
  ['SLUICE_SKETCH_UNREADABLE', unreadSketch],
]
