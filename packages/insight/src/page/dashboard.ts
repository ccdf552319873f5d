import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { type CheckedOptions, DashboardPage } from './dashboard-page.ts'
import type { InsightSource } from './insight-source.ts'
import { type FastifyPlugin, fastifyMount, type KoaMiddleware, koaMount, type PageHandler } from './page-mounts.ts'

export interface DashboardOptions {
  /** What is shown, and what operators change. */
  readonly insight: InsightSource
  /**
   * Who has it may look and act, from anywhere: 16 characters or more. Without one nobody may act, and the page shows itself on the same machine alone,
   * at localhost; behind a proxy it needs one.
   */
  readonly token?: string | undefined
  /** Where it is mounted, as `/limits`, for node:http and Koa. Default: the root; Express, Fastify and Nest say it themselves. */
  readonly path?: string | undefined
  /** Milliseconds from one update to the next, 250 or more. Default: 1,000. */
  readonly updateMs?: number | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Shows an insight. It is a handler for node:http, Express and Nest. */
export interface Dashboard extends PageHandler {
  readonly koa: KoaMiddleware
  readonly fastify: FastifyPlugin
  /** Ends all streams; whoever asks later gets 503. */
  close(): void
}

/** The fastest that a page is told anything. */
const FASTEST_MS = 250
const SLOWEST_MS = 60_000

/** One page that shows what limits do, closed to strangers. Throws `SLUICE_BAD_OPTION`. */
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
