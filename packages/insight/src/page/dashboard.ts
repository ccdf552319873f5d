import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { type CheckedOptions, DashboardPage } from './dashboard-page.ts'
import type { InsightSource } from './insight-source.ts'
import { type FastifyPlugin, fastifyMount, type KoaMiddleware, koaMount, type PageHandler } from './page-mounts.ts'

export interface DashboardOptions {
  /** Insight to display and control. */
  readonly insight: InsightSource
  /**
   * Access token of at least 16 characters. With it, operators can view the dashboard and make changes from anywhere.
   * Without a token the dashboard is read-only and served on localhost to the same machine only. Required behind a
   * proxy.
   */
  readonly token?: string | undefined
  /**
   * Mount path, such as `/limits`, for `node:http` and Koa. Default: the root. Express, Fastify and Nest provide it
   * themselves.
   */
  readonly path?: string | undefined
  /** Interval between updates in ms: 250 to 60,000. Default: 1,000. */
  readonly updateMs?: number | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Request handler that serves the dashboard in node:http, Express and Nest. */
export interface Dashboard extends PageHandler {
  readonly koa: KoaMiddleware
  readonly fastify: FastifyPlugin
  /** Closes all streams; later requests receive 503. */
  close(): void
}

/** Shortest time between two updates. */
const FASTEST_MS = 250
const SLOWEST_MS = 60_000

/** Creates a web page that displays the live statistics of an insight. Throws `SLUICE_BAD_OPTION`. */
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
  if (!isSource) throw badOption('dashboard: insight', insight, 'an Insight of createInsight')
  if (!/^(?:\/[\w.~-]+)*$/.test(path)) throw badOption('dashboard: path', path, "a path such as '/limits'")
  const inRange = updateMs >= FASTEST_MS && updateMs <= SLOWEST_MS
  if (!inRange) throw badOption('dashboard: updateMs', updateMs, `a number of ms from ${FASTEST_MS} to ${SLOWEST_MS}`)
  return { insight, token, path, updateMs, clock: clockOf(clock) }
}
