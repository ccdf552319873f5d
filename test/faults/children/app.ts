// An application of a fleet: limits on one server, simulated clients, and a record of every answer.

import {
  type BackendErrorRule,
  createLimiter,
  type Decision,
  type Limiter,
  type MaybePromise,
} from '@sluice/limiter-core'
import { redisBackend, type SyncedBackendOptions, syncedBackend } from '@sluice/redis'
import { ENDLESS } from '../server-count.ts'
import { AnswerRecord, type Answers, type Sample } from './answer-record.ts'
import { OpenLoop } from './open-loop.ts'
import { type OpenedBackend, openedBackend, type StoreAddress } from './opened-backend.ts'
import { connectRedis, type RedisAddress } from './redis-client.ts'

/** Address of Redis, or of another store. */
export type Address = RedisAddress | StoreAddress

export interface Site {
  readonly address: Address
  readonly scope: string
  /**
   * Limit of the policy `guarded`, whose keys are meant to be denied. The policy `counter` never denies. Default: 50.
   */
  readonly limit?: number
  readonly windowMs?: number
  /**
   * Failure rule of `guarded`. The policy `counter` uses `allow`, so that Redis counts exactly what it acknowledged.
   */
  readonly rule?: BackendErrorRule
  readonly deadlineMs?: number
  /** Offset of the clock of this process in milliseconds. */
  readonly skewMs?: number
  readonly clientOptions?: Readonly<Record<string, unknown>>
  /** If set, the application uses a global limiter with these options. */
  readonly synced?: SyncedBackendOptions
}

/** What one application recorded during a row. */
export interface Report extends Answers {
  readonly unhandled: readonly string[]
  readonly warnings: readonly { readonly at: number; readonly code: string; readonly message: string }[]
  /** Number of failures by error code, as reported to observers. */
  readonly causes: Readonly<Record<string, number>>
  readonly opened: number
}

const UNHANDLED: string[] = []
const WARNINGS: { at: number; code: string; message: string }[] = []
const wallNow = Date.now.bind(Date)
let skewMs = 0
Date.now = () => wallNow() + skewMs
process.on('unhandledRejection', (reason) => UNHANDLED.push(String(reason)))
process.on('uncaughtException', (error) => UNHANDLED.push(String(error.stack)))
process.on('warning', (warning) => {
  const { code = warning.name } = warning as Error & { code?: string }
  WARNINGS.push({ at: epochNow(), code, message: warning.message })
})

let client: OpenedBackend | undefined
let limiters: Record<Sample['policy'], Limiter<MaybePromise<Decision>>>
let breaker = 'closed'
let timesOpened = 0
let causes: Record<string, number> = {}
let crowd: OpenLoop | undefined
let record: AnswerRecord

/** Connects and creates the limiters, like an application at startup. An unavailable server is not an error. */
export async function open(site: Site): Promise<void> {
  if (client !== undefined) close()
  setSkew(site.skewMs ?? 0)
  ;[UNHANDLED.length, WARNINGS.length] = [0, 0]
  client = await opened(site)
  const { backend } = client
  const { scope, limit = 50, windowMs = 3_600_000, rule = 'local', deadlineMs } = site
  const shared = { backend, ...(deadlineMs === undefined ? {} : { deadlineMs }), observers: [observer] }
  const policy = { algorithm: 'fixed-window', window: windowMs } as const
  limiters = {
    guarded: createLimiter({
      ...shared,
      scope,
      policies: [{ ...policy, name: 'guarded', limit }],
      onBackendError: rule,
    }),
    counter: createLimiter({
      ...shared,
      scope,
      // the policy with which serverCount reads the counts of the server
      policies: [{ ...policy, name: 'counter', limit: ENDLESS, window: '1h' }],
      onBackendError: 'allow',
    }),
  }
  ;[breaker, timesOpened] = ['closed', 0]
}

/** Steps the wall clock of this process, and leaves the monotonic clock unchanged. */
export function setSkew(ms: number): void {
  skewMs = ms
}

/** Makes one request. */
export async function take(policy: Sample['policy'], key: string, cost = 1): Promise<TakenOnce> {
  const { allowed, counted, retryAfterMs, binding } = await limiters[policy].take(key, cost)
  return { allowed, counted, retryAfterMs, resetAfterMs: binding.resetAfterMs, remaining: binding.remaining }
}

export interface TakenOnce {
  readonly allowed: boolean
  readonly counted: boolean
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly remaining: number
}

/** Makes concurrent requests. Returns how many were allowed, and whether all were counted. */
export async function takeAtOnce(key: string, times: number): Promise<{ allowed: number; counted: number }> {
  const decisions = await Promise.all(Array.from({ length: times }, () => limiters.guarded.take(key)))
  return {
    allowed: decisions.filter(({ allowed }) => allowed).length,
    counted: decisions.filter(({ counted }) => counted).length,
  }
}

/** Requests each of the given keys of `counter` in one turn. Returns how many were counted. */
export async function takeEach(keys: readonly string[]): Promise<number> {
  const decisions = await Promise.all(keys.map((key) => limiters.counter.take(key)))
  return decisions.filter(({ counted }) => counted).length
}

/** Starts the simulated clients: one request in ten for each key of `guarded`, the others for the keys of `counter`. */
export function start({ perSecond, guarded, counter }: Load): void {
  causes = {}
  record = new AnswerRecord()
  crowd = new OpenLoop(perSecond, (index) => {
    const special = guarded[index % 10]
    const policy = special === undefined ? 'counter' : 'guarded'
    const key = special ?? (counter[index % counter.length] as string)
    record.ask(() => limiters[policy].take(key), { policy, key, breaker })
  })
}

export interface Load {
  readonly perSecond: number
  /** At most nine keys. */
  readonly guarded: readonly string[]
  readonly counter: readonly string[]
}

/** Stops the simulated clients. Resolves when all requests are answered, or a second later. */
export async function stop(): Promise<Report> {
  crowd?.stop()
  const answers = await record.end()
  return { ...answers, unhandled: [...UNHANDLED], warnings: [...WARNINGS], causes, opened: timesOpened }
}

/** Closes limiters and client. */
export function close(): void {
  crowd?.stop()
  for (const limiter of Object.values(limiters)) limiter.close()
  client?.close()
}

/** Closes everything, including the IPC channel. The process exits unless one of our resources keeps it alive. */
export async function leave(): Promise<Report> {
  close()
  const report = await stop()
  process.removeAllListeners('disconnect')
  setImmediate(() => process.disconnect?.())
  return report
}

const observer = {
  event(name: string, { state, cause, failed }: Readonly<Record<string, unknown>>): void {
    if (name === 'sync' && failed) causes[String(failed)] = (causes[String(failed)] ?? 0) + 1
    if (name === 'backendFailed') causes[String(cause)] = (causes[String(cause)] ?? 0) + 1
    if (name !== 'breaker') return
    breaker = String(state)
    if (state === 'open') timesOpened++
  },
}

async function opened({ address, clientOptions = {}, synced }: Site): Promise<OpenedBackend> {
  if ('store' in address) return openedBackend(address, clientOptions)
  const { client: redis, close: disconnect } = await connectRedis(address, clientOptions)
  return { backend: synced ? syncedBackend(redis, synced) : redisBackend(redis), close: disconnect }
}

function epochNow(): number {
  return performance.timeOrigin + performance.now()
}
