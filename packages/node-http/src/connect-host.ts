import type { IncomingMessage } from 'node:http'
import type { RequestView } from '@sluice/limiter-core'

export type Next = (error?: unknown) => void

/** A framework of `(req, res, next)` middleware, as the shared middle sees it. */
export interface ConnectHost<Req extends IncomingMessage> {
  /** Shows a request to key sources; must not throw. */
  view(req: Req): RequestView<Req>
  /** Names of options that only this framework has. */
  readonly options: readonly string[]
}

export type ConnectHandler<Req, Res> = (req: Req, res: Res, next: Next) => unknown

/** A handler behind a limiter: for a server itself, which has no `next`, and for frameworks, which have one. */
export type WrappedHandler<Req, Res> = (req: Req, res: Res, next?: Next) => unknown

/** Where a server has no `next`: nothing follows, and an error is nobody's but the server's. */
export function lastOfAll(error?: unknown): void {
  if (error !== undefined) throw error
}

/** Middleware, or around a single handler. */
export interface ConnectMiddleware<Req, Res> {
  (req: Req, res: Res, next: Next): void
  /** A handler that runs for requests that pass. A cap holds its place until the handler's promise settles, too. */
  wrap(handler: ConnectHandler<Req, Res>): WrappedHandler<Req, Res>
}
