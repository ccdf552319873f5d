import { systemClock } from '@sluice/limiter-core/backend'
import type { Cluster, Redis } from 'ioredis'
import { type ChildNode, startNode } from '../services/child-node.ts'
import { eventually } from '../services/eventually.ts'
import type { Load, Site } from './children/app.ts'
import { serverCount } from './server-count.ts'
import { Timeline } from './timeline.ts'

export type App = ChildNode<typeof import('./children/app.ts')>

/** Of all applications together. */
const PER_SECOND = 500
/** How long they run before the fault, and after it is over and Redis answers again. */
const CALM_MS = 300

/** The key of `guarded` that is denied from the start. */
export const ATTACKER = 'attacker'
/** The keys of `counter`. */
export const USERS: readonly string[] = Array.from({ length: 50 }, (_, index) => `user ${index}`)

export interface Crowd {
  /** Keys of `guarded` beside the one that is denied from the start. */
  readonly guarded?: readonly string[]
  readonly perSecond?: number
}

/** Applications with a crowd on one Redis. Every second one has ioredis 5, the others have ioredis 6. */
export class Fleet {
  readonly apps: readonly App[]
  static #scopes = 0
  #scope = ''

  private constructor(apps: readonly App[]) {
    this.apps = apps
  }

  static start(size = 2): Fleet {
    const apps = Array.from({ length: size }, (_, index) => {
      const env = index % 2 === 1 ? { IOREDIS: 'ioredis5' } : {}
      return startNode<typeof import('./children/app.ts')>('faults/children/app.ts', { env })
    })
    return new Fleet(apps)
  }

  /** Opens the limiters of all, and spends the key of the attacker. */
  async open(site: Omit<Site, 'scope'>, each: readonly Partial<Site>[] = []): Promise<void> {
    await this.openUnready(site, each)
    await this.ready()
    for (const app of this.apps) await eventually(() => isDenied(app), { what: 'an attacker that is denied' })
  }

  /** Opens the limiters of all, wherever Redis is. */
  async openUnready(site: Omit<Site, 'scope'>, each: readonly Partial<Site>[] = []): Promise<void> {
    this.#scope = `row${Fleet.#scopes++}`
    const scope = this.#scope
    await Promise.all(this.apps.map((app, index) => app.call('open', { ...site, scope, ...each[index] })))
  }

  /** Waits until Redis answers all of them. */
  async ready(): Promise<void> {
    const answers = this.apps.map((app) =>
      eventually(async () => (await app.call('take', 'counter', 'ready')).counted, { what: 'an answer of Redis' }),
    )
    await Promise.all(answers)
  }

  /**
   * Lets the crowd in, then the fault, which answers when Redis began to accept again; stays until all applications
   * count there again, and a moment longer.
   */
  async through(fault: () => Promise<FaultTimes>, crowd: Crowd = {}): Promise<Passed> {
    await this.begin(crowd)
    await lasting(CALM_MS)
    const times = await fault()
    await this.ready()
    await lasting(CALM_MS)
    return { ...times, timeline: await this.end() }
  }

  async begin({ guarded = [], perSecond = PER_SECOND }: Crowd = {}): Promise<void> {
    const load: Load = { perSecond: perSecond / this.apps.length, guarded: [ATTACKER, ...guarded], counter: USERS }
    await Promise.all(this.apps.map((app) => app.call('start', load)))
  }

  async end(): Promise<Timeline> {
    return new Timeline(await Promise.all(this.apps.map((app) => app.call('stop'))))
  }

  /** What Redis itself counted of the crowd, asked by a client of its own. */
  counted(client: Redis | Cluster): Promise<number> {
    return serverCount(client, this.#scope, USERS)
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
  /** Epoch ms. */
  readonly from: number
  /** When Redis accepted again. */
  readonly to: number
  /** From when on the fault was certainly there; `from` unless said. */
  readonly begunAt?: number
  /** Until when it was; `to` unless said. */
  readonly endingAt?: number
}

export interface Passed extends FaultTimes {
  readonly timeline: Timeline
}

/** How long a fault lasts is a part of it. */
export function lasting(ms: number): Promise<void> {
  // a timer of the clock would not keep a process alive that does nothing else
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function epochNow(): number {
  return performance.timeOrigin + systemClock.now()
}

/** A fault of so many ms, from `begin` to `end`. */
export async function during(ms: number, begin: () => unknown, end: () => unknown): Promise<FaultTimes> {
  const from = epochNow()
  await begin()
  const begunAt = epochNow()
  await lasting(ms)
  const endingAt = epochNow()
  await end()
  return { from, to: epochNow(), begunAt, endingAt }
}
