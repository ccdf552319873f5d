import type { Backend } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import type { Cluster, Redis } from 'ioredis'
import { eventually } from '../services/eventually.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import type { Load, Site } from './children/app.ts'
import { Timeline } from './report/timeline.ts'
import { serverCount } from './server-count.ts'

export type App = ChildNode<typeof import('./children/app.ts')>

const PER_SECOND = 500
/** How long traffic runs before the fault, and after Redis answers again. */
const CALM_MS = 300

/** The key of `guarded` that is denied from the start. */
export const ATTACKER = 'attacker'
/** The keys of `counter`. */
export const USERS: readonly string[] = Array.from({ length: 50 }, (_, index) => `user ${index}`)

export interface Crowd {
  /** Keys of `guarded` in addition to the denied key. */
  readonly guarded?: readonly string[]
  readonly perSecond?: number
}

/** Environments of the applications of a fleet, which take turns, by the name of their client of Redis. */
const CLIENTS: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  ioredis: [{}, { IOREDIS: 'ioredis5' }],
  'node-redis': [{ REDIS_CLIENT: 'node-redis' }, { REDIS_CLIENT: 'node-redis', NODE_REDIS: 'redis5' }],
  iovalkey: [{ IOREDIS: 'iovalkey' }],
  'valkey-glide': [{ REDIS_CLIENT: 'valkey-glide' }],
}

/** Applications with simulated clients on one Redis. */
export class Fleet {
  readonly apps: readonly App[]
  /** Name of the client of Redis. */
  readonly client: string
  /** Requests per second of all applications together, unless a row states another rate. */
  readonly perSecond: number
  static #scopes = 0
  #scope = ''

  private constructor(apps: readonly App[], client: string, perSecond: number) {
    this.apps = apps
    this.client = client
    this.perSecond = perSecond
  }

  /** Starts applications with this client of Redis. Default: the one that FAULT_CLIENT names, or ioredis. */
  static start(size = 2, client = process.env.FAULT_CLIENT ?? 'ioredis'): Fleet {
    const envs = CLIENTS[client]
    const apps = Array.from({ length: size }, (_, index) => {
      const env = envs[index % envs.length]
      return startNode<typeof import('./children/app.ts')>('faults/children/app.ts', { env })
    })
    return new Fleet(apps, client, PER_SECOND)
  }

  /** The same applications, with another number of requests. */
  at(perSecond = PER_SECOND): Fleet {
    return new Fleet(this.apps, this.client, perSecond)
  }

  /** Limit of `guarded`, unless a row states another one: each of its keys is requested as often within a second. */
  get limit(): number {
    return this.perSecond / 10
  }

  /** Opens the limiters of all applications and uses up the key of the attacker. */
  async open(site: Omit<Site, 'scope'>, each: readonly Partial<Site>[] = []): Promise<void> {
    const { limit = this.limit } = site
    await this.openUnready({ ...site, limit }, each)
    await this.ready()
    await this.apps[0]?.call('takeAtOnce', ATTACKER, limit)
    for (const app of this.apps) await eventually(() => isDenied(app), { what: 'an attacker that is denied' })
  }

  /** Opens the limiters of all applications, even if Redis is unavailable. */
  async openUnready(site: Omit<Site, 'scope'>, each: readonly Partial<Site>[] = []): Promise<void> {
    this.#scope = `row${Fleet.#scopes++}`
    const scope = this.#scope
    await Promise.all(this.apps.map((app, index) => app.call('open', { ...site, scope, ...each[index] })))
  }

  /** Waits until Redis answers all applications. */
  async ready(): Promise<void> {
    const answers = this.apps.map((app) =>
      eventually(async () => (await app.call('take', 'counter', 'ready')).counted, { what: 'an answer of Redis' }),
    )
    await Promise.all(answers)
  }

  /**
   * Starts the clients and then the fault, which returns when Redis began to accept again. Ends when all applications
   * count there again, plus some calm time.
   */
  async through(fault: () => Promise<FaultTimes>, crowd: Crowd = {}): Promise<Passed> {
    await this.begin(crowd)
    await lasting(CALM_MS)
    const times = await fault()
    await this.ready()
    await lasting(CALM_MS)
    return { ...times, client: this.client, timeline: await this.end() }
  }

  async begin({ guarded = [], perSecond = this.perSecond }: Crowd = {}): Promise<void> {
    const load: Load = { perSecond: perSecond / this.apps.length, guarded: [ATTACKER, ...guarded], counter: USERS }
    await Promise.all(this.apps.map((app) => app.call('start', load)))
  }

  async end(): Promise<Timeline> {
    return new Timeline(await Promise.all(this.apps.map((app) => app.call('stop'))))
  }

  /** Number of requests that the server itself counted, read through a separate client or backend. */
  counted(server: Redis | Cluster | Backend): Promise<number> {
    return serverCount(server, this.#scope, USERS)
  }

  async stop(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop()))
  }
}

async function isDenied(app: App): Promise<boolean> {
  const { allowed, counted } = await app.call('take', 'guarded', ATTACKER)
  return counted && !allowed
}

export interface FaultTimes {
  /** Epoch milliseconds. */
  readonly from: number
  /** When Redis accepted requests again. */
  readonly to: number
  /** Start of the time in which the fault certainly had an effect. Default: `from`. */
  readonly begunAt?: number
  /** End of the time in which the fault certainly had an effect. Default: `to`. */
  readonly endingAt?: number
}

export interface Passed extends FaultTimes {
  /** Name of the client of Redis. */
  readonly client: string
  readonly timeline: Timeline
}

/** The duration of a fault is part of the measurement. */
export function lasting(ms: number): Promise<void> {
  // a timer of the clock does not keep the process alive
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function epochNow(): number {
  return performance.timeOrigin + systemClock.now()
}

/** Creates a fault with the given duration in milliseconds, between `begin` and `end`. */
export async function during(ms: number, begin: () => unknown, end: () => unknown): Promise<FaultTimes> {
  const from = epochNow()
  await begin()
  const begunAt = epochNow()
  await lasting(ms)
  const endingAt = epochNow()
  await end()
  return { from, to: epochNow(), begunAt, endingAt }
}
