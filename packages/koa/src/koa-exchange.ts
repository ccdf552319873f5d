import { Exchange, type HttpDenial, routeMethod, warnTrustsAnyone, warnUntrustedProxy } from '@sluice/node-http/adapter'
import type { Context, Response } from 'koa'

/** What routers of Koa tell of a request. */
interface RouterContext {
  readonly method: string
  readonly _matchedRoute?: unknown
  /** All whose pattern is met, whatever the method. */
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[]
}

/** A request of Koa. Proxies are trusted as `app.proxy` and `app.maxIpsCount` say. */
export class KoaExchange extends Exchange<Context, Response> {
  constructor(ctx: Context) {
    super(ctx, ctx.response, ctx.req, ctx.res)
    ctx.state.sluice = this.life
  }

  get ip(): string | undefined {
    const { app, request } = this.raw
    if (this.incoming.headers['x-forwarded-for'] === undefined) return request.ip
    if (!app.proxy) warnUntrustedProxy()
    // 0 is no bound
    else if (!app.maxIpsCount && /^x-forwarded-for$/i.test(app.proxyIpHeader)) warnTrustsAnyone('no app.maxIpsCount')
    return request.ip
  }

  /** Known in middleware of a route and later; in `router.use` it is the pattern of the router. */
  get route(): string | undefined {
    return this.raw._matchedRoute?.toString()
  }

  /** Of all that the router has at this pattern for the request: whichever of them runs, a client has one key. */
  override get routeMethod(): string | undefined {
    const { matched = [], _matchedRoute: pattern, method } = this.raw as RouterContext
    const lists = matched.filter(({ path }) => path === pattern).map(({ methods }) => methods)
    const meant = lists.filter((methods) => methods.length === 0 || methods.includes(method))
    // middleware of a router is for every method, and so lists none
    if (meant.some((methods) => methods.length === 0)) return routeMethod([])
    const [widest] = meant.sort((a, b) => b.length - a.length)
    return widest && routeMethod(widest)
  }

  // a status that Koa has not heard of would become 200 with the body
  override setStatus(status: number): void {
    this.raw.status = status
  }

  override send(denial: HttpDenial): void {
    this.setHeader('Content-Type', denial.contentType)
    // for a request that Koa was told to leave alone it sends nothing, and nobody else will
    if (this.raw.respond === false) super.send(denial)
    else this.raw.body = denial.body
  }
}
