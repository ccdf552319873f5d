import {
  Exchange,
  type HttpDenial,
  routeMethod,
  warnTrustsAllProxies,
  warnUntrustedProxy,
} from '@sluice/node-http/adapter'
import type { Context, Response } from 'koa'

/** Properties that Koa routers set on the context of a request. */
interface RouterContext {
  readonly method: string
  readonly _matchedRoute?: unknown
  /** All routes whose pattern matches the path, for any method. */
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[]
}

/** A Koa request. `app.proxy` and `app.maxIpsCount` decide which proxies are trusted. */
export class KoaExchange extends Exchange<Context, Response> {
  constructor(ctx: Context) {
    super(ctx, ctx.response, ctx.req, ctx.res)
    ctx.state.sluice = this.life
  }

  get ip(): string | undefined {
    const { app, request } = this.raw
    if (this.headers['x-forwarded-for'] === undefined) return request.ip
    if (!app.proxy) warnUntrustedProxy()
    // 0 means unlimited
    else if (!app.maxIpsCount && /^x-forwarded-for$/i.test(app.proxyIpHeader))
      warnTrustsAllProxies('app.proxy is true without app.maxIpsCount')
    return request.ip
  }

  /** Available in middleware of a route and in its handlers; in `router.use` it is the pattern of the router. */
  get route(): string | undefined {
    return this.raw._matchedRoute?.toString()
  }

  /** Depends on all routes with this pattern that accept the request, so that a client has one key in all of them. */
  override get routeMethod(): string | undefined {
    const { matched = [], _matchedRoute: pattern, method } = this.raw as RouterContext
    const lists = matched.filter(({ path }) => path === pattern).map(({ methods }) => methods)
    const accepting = lists.filter((methods) => methods.length === 0 || methods.includes(method))
    // middleware of a router runs for all methods, and lists none
    if (accepting.some((methods) => methods.length === 0)) return routeMethod([])
    const [widest] = accepting.sort((a, b) => b.length - a.length)
    return widest && routeMethod(widest)
  }

  // set through Koa, which would otherwise change the status to 200 when the body is set
  override setStatus(status: number): void {
    this.raw.status = status
  }

  // Koa changes its default status to 200 when the body is set, but no status that was set through it
  override undoStatus(status: number): void {
    if (this.raw.status !== status) return
    this.raw.status = 404
    const response: Response & { _explicitStatus?: boolean } = this.res
    response._explicitStatus = false
  }

  override send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    // Koa sends no response with `ctx.respond = false`, nor to a HEAD request over HTTP/2, whose stream is never writable
    if (this.raw.respond === false || !this.raw.writable) super.send(denial)
    else this.raw.body = denial.body
  }
}
