import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { type CheckedOptions, DashboardPage } from './dashboard-page.ts'
import type { InsightSource } from './insight-source.ts'
import { type FastifyPlugin, fastifyMount, type KoaMiddleware, koaMount, type PageHandler } from './page-mounts.ts'

export interface DashboardOptions {
  /** Provides the data and applies the changes. */
  readonly insight: InsightSource
  /**
   * Grants reading and changing from anywhere: 16 characters or more. Without a token nothing can be changed, and the
   * page is served only to the same machine, at localhost; behind a proxy a token is required.
   */
  readonly token?: string | undefined
  /**
   * Mount path, such as `/limits`, for `node:http` and Koa. Default: the root. Express, Fastify and Nest provide it
   * themselves.
   */
  readonly path?: string | undefined
  /** Milliseconds from one update to the next, 250 or more. Default: 1,000. */
  readonly updateMs?: number | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Shows an insight. It is a handler for node:http, Express and Nest. */
export interface Dashboard extends PageHandler {
  readonly koa: KoaMiddleware
  readonly fastify: FastifyPlugin
  /** Closes all streams; later requests receive 503. */
  close(): void
}

/** Shortest time between two updates. */
const FASTEST_MS = 250
const SLOWEST_MS = 60_000

/** Creates the live page, which is not public by default. Throws `SLUICE_BAD_OPTION`. */
export function dashboard(options: DashboardOptions): Dashboard {
  const page = new DashboardPage(checked(options))
  const handle: PageHandler = (req, res, next) => page.handle(req, res, next)
  const close = () => page.close()
  const fastify = fastifyMount((path) => (req, res, next) => page.handle(req, res, next, path))
  return Object.assign(handle, { koa: koaMount(handle), fastify, close })
}

function checked(options: DashboardOptions): CheckedOptions {
  optionsOf('dashboard', options, ['insight', 'token', 'path', 'updateMs', 'clock'])
  const { insight, token, path = '', updateMs = 1_000, clock } = options
  const isSource = typeof insight?.snapshot === 'function'
  if (!isSource) throw badOption('dashboard: insight', insight, 'what createInsight makes')
  if (!/^(?:\/[\w.~-]+)*$/.test(path)) throw badOption('dashboard: path', path, "a path as '/limits'")
  const inRange = updateMs >= FASTEST_MS && updateMs <= SLOWEST_MS
  if (!inRange) throw badOption('dashboard: updateMs', updateMs, `${FASTEST_MS} to ${SLOWEST_MS} ms`)
  return { insight, token, path, updateMs, clock: clockOf(clock) }
}
