import { byIp, type Limiter, rateLimit } from '@sluice/fetch'
import { betterAuthStorage } from '@sluice/fetch/better-auth'
import { type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { storeBackend } from '@sluice/stores'
import { type SqliteDatabase, sqliteStore } from '@sluice/stores/sqlite'
import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { Redis } from 'ioredis'

/** The user of each instance. */
const USER = { email: 'anna@shop.example', password: 'open sesame' }

/** What counts the sign-ins. */
export interface Counting {
  /** Port of a Redis, or path of an SQLite file. Default: memory. */
  readonly redis?: number
  readonly sqlite?: string
  /**
   * `rules`: the storage counts the rules of better-auth. `limiter`: the storage asks a limiter with 3 requests per
   * minute. `wrap`: a limit around the handler, which trusts the proxies that `trustedProxies` names. `own`: the
   * database storage of better-auth.
   */
  readonly by: 'rules' | 'limiter' | 'wrap' | 'own'
  /** Default: 3 requests per minute and address for `/sign-in/email`, and the default rules for other paths. */
  readonly customRules?: Readonly<Record<string, { readonly window: number; readonly max: number } | false>>
  readonly trustedProxies?: readonly string[]
  /** The time to wait for the backend. Default: a minute, so that a busy machine does not decide by the failure rule. */
  readonly deadlineMs?: number
}

/** Requests with these properties. Default: a sign-in with a wrong password. */
export interface Requests {
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Adds an address that the client invented to the left of `x-forwarded-for`, another one for each request. */
  readonly inventsAddresses?: boolean
}

/** Responses, by status, and the number of passwords that were checked. */
export interface Seen {
  readonly statuses: Readonly<Record<number, number>>
  readonly checked: number
  /** Headers of the last response. */
  readonly headers: Readonly<Record<string, string>>
}

const ORIGIN = 'https://shop.example'
const SIGN_IN = '/sign-in/email'

let handler: (request: Request) => Promise<Response> | Response
let checked = 0
let client: Redis | undefined

function backendOf({ redis, sqlite }: Counting): Backend {
  if (redis !== undefined) {
    client = new Redis({ port: redis })
    return redisBackend(client)
  }
  if (sqlite === undefined) return memoryBackend()
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite' as never) as {
    DatabaseSync: new (path: string) => SqliteDatabase
  }
  return storeBackend(sqliteStore(new DatabaseSync(sqlite)), { name: 'sqlite' })
}

function storageOf(counting: Counting): BetterAuthOptions['rateLimit'] {
  const { by, deadlineMs = 60_000, customRules = { [SIGN_IN]: { window: 60, max: 3 } } } = counting
  if (by === 'wrap') return { enabled: false }
  if (by === 'own') return { enabled: true, storage: 'database', customRules }
  const options = { backend: backendOf(counting), deadlineMs }
  const limiter = (): Limiter => createLimiter({ ...options, policies: [{ name: 'auth', limit: 3, window: '1m' }] })
  return { enabled: true, customStorage: betterAuthStorage(by === 'rules' ? options : limiter()), customRules }
}

/** Creates an instance of better-auth with one user, in place of the last one. */
export async function open(counting: Counting): Promise<void> {
  client?.disconnect()
  const auth = betterAuth({
    baseURL: ORIGIN,
    secret: 'a secret of at least 32 characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [], rateLimit: [] }),
    emailAndPassword: {
      enabled: true,
      password: {
        hash: async (password) => password,
        verify: async ({ hash, password }) => {
          checked++
          return hash === password
        },
      },
    },
    rateLimit: storageOf(counting),
    advanced: { ipAddress: { trustedProxies: [...(counting.trustedProxies ?? [])] } },
    logger: { disabled: true },
    telemetry: { enabled: false },
  })
  await auth.api.signUpEmail({ body: { name: 'Anna', ...USER } })
  handler = counting.by === 'wrap' ? wrapped(auth.handler, counting) : auth.handler
}

function wrapped(handle: (request: Request) => Promise<Response>, counting: Counting): typeof handler {
  const { deadlineMs = 60_000, trustedProxies = [] } = counting
  const [proxy] = trustedProxies
  const trust = proxy === undefined ? undefined : ({ ranges: trustedProxies, header: 'x-forwarded-for' } as const)
  const limit = rateLimit({
    backend: backendOf(counting),
    deadlineMs,
    trust,
    name: 'sign-in',
    limit: 3,
    window: '1m',
    key: byIp(),
    skip: (request) => !new URL(request.url).pathname.endsWith(SIGN_IN),
  })
  return (request) => limit(request, { ip: proxy ?? '203.0.113.7' }, () => handle(request))
}

/** Sends requests at once. */
export async function send(count: number, requests: Requests = {}): Promise<Seen> {
  const before = checked
  const responses = await Promise.all(Array.from({ length: count }, (_, index) => handler(requestOf(index, requests))))
  const statuses: Record<number, number> = {}
  for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1
  const last = responses[responses.length - 1]
  return { statuses, checked: checked - before, headers: Object.fromEntries(last.headers) }
}

const WRONG = JSON.stringify({ ...USER, password: 'a guess' })

function requestOf(index: number, { path = SIGN_IN, body = WRONG, headers, inventsAddresses }: Requests): Request {
  const sent = { 'x-forwarded-for': '203.0.113.7', ...headers }
  const invented = inventsAddresses ? `198.51.100.${index % 256}, ` : ''
  return new Request(`${ORIGIN}/api/auth${path}`, {
    method: path === '/ok' ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      origin: ORIGIN,
      ...sent,
      'x-forwarded-for': invented + sent['x-forwarded-for'],
    },
    ...(path !== '/ok' && { body }),
  })
}
