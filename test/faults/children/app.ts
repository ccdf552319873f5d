// An application of a fleet: limits on one Redis, a crowd that asks them, and a record of every answer.

import {
  type Backend,
  type BackendErrorRule,
  createLimiter,
  type Decision,
  type Limiter,
  type MaybePromise,
} from '@sluice/limiter-core'
import { createRedis, createRedisCluster, redisBackend, type SyncedBackendOptions, syncedBackend } from '@sluice/redis'
import { ENDLESS } from '../server-count.ts'
import { AnswerRecord, type Answers, type Sample } from './answer-record.ts'
import { OpenLoop } from './open-loop.ts'

/** Where Redis is. */
export type Address =
  | { readonly url: string }
  | { readonly name: string; readonly sentinels: { host: string; port: number }[] }
  | { readonly nodes: { host: string; port: number }[] }

export interface Site {
  readonly address: Address
  readonly scope: string
  /** Of the policy `guarded`, whose keys are to be denied; `counter` is never full. Default 50. */
  readonly limit?: number
  readonly windowMs?: number
  /** Of `guarded`; `counter` lets pass without counting, so that what Redis counts is what it acknowledged. */
  readonly rule?: BackendErrorRule
  readonly deadlineMs?: number
  /** What the clock of this process is ahead. */
  readonly skewMs?: number
  readonly clientOptions?: Readonly<Record<string, unknown>>
  /** It counts by a global limiter with these options. */
  readonly synced?: SyncedBackendOptions
}

/** What one application saw of a row. */
export interface Report extends Answers {
  readonly unhandled: readonly string[]
  readonly warnings: readonly { readonly at: number; readonly code: string; readonly message: string }[]
  /** Codes of failures that observers heard of, and how often. */
  readonly causes: Readonly<Record<string, number>>
  readonly opened: number
}

type Client = ReturnType<typeof createRedis> | ReturnType<typeof createRedisCluster>

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

let client: Client | undefined
let limiters: Record<Sample['policy'], Limiter<MaybePromise<Decision>>>
let breaker = 'closed'
let opened = 0
let causes: Record<string, number> = {}
let crowd: OpenLoop | undefined
let record: AnswerRecord

/** Connects, and builds the limiters, as an application does that starts: a server that is not there is no error. */
export function open(site: Site): void {
  if (client !== undefined) close()
  setSkew(site.skewMs ?? 0)
  ;[UNHANDLED.length, WARNINGS.length] = [0, 0]
  client = connect(site)
  const backend: Backend = site.synced ? syncedBackend(client, site.synced) : redisBackend(client)
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
      // as whoever reads what the server counted asks for it
      policies: [{ ...policy, name: 'counter', limit: ENDLESS, window: '1h' }],
      onBackendError: 'allow',
    }),
  }
  ;[breaker, opened] = ['closed', 0]
}

/** Steps the clock of this process, as one does who sets it: all but the monotonic one. */
export function setSkew(ms: number): void {
  skewMs = ms
}

/** Asks once. */
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

/** How many of so many requests at once pass, and whether all of them were counted. */
export async function takeAtOnce(key: string, times: number): Promise<{ allowed: number; counted: number }> {
  const decisions = await Promise.all(Array.from({ length: times }, () => limiters.guarded.take(key)))
  return {
    allowed: decisions.filter(({ allowed }) => allowed).length,
    counted: decisions.filter(({ counted }) => counted).length,
  }
}

/** Asks for each of these keys of `counter` in one turn. Answers how many were counted. */
export async function takeEach(keys: readonly string[]): Promise<number> {
  const decisions = await Promise.all(keys.map((key) => limiters.counter.take(key)))
  return decisions.filter(({ counted }) => counted).length
}

/** A crowd begins to ask: of ten one for each of `guarded`, the others for the keys of `counter`. */
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
  /** At most nine. */
  readonly guarded: readonly string[]
  readonly counter: readonly string[]
}

/** The crowd goes; answers when all are answered, or a second later. */
export async function stop(): Promise<Report> {
  crowd?.stop()
  const answers = await record.end()
  return { ...answers, unhandled: [...UNHANDLED], warnings: [...WARNINGS], causes, opened }
}

/** Lets go of limiters and client. */
export function close(): void {
  crowd?.stop()
  for (const limiter of Object.values(limiters)) limiter.close()
  client?.disconnect()
}

/** Lets go of all, this channel too, which the process would live for: it ends if nothing of ours holds it. */
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
    if (state === 'open') opened++
  },
}

function connect({ address, clientOptions = {} }: Site): Client {
  if ('nodes' in address) return createRedisCluster(address.nodes, { redisOptions: clientOptions })
  return 'url' in address ? createRedis(address.url, clientOptions) : createRedis({ ...address, ...clientOptions })
}

function epochNow(): number {
  return performance.timeOrigin + performance.now()
}
