import { FetchExchange, FetchLife, hostPeer } from '@sluice/fetch/adapter'
import { isOfRegularResponse, routeMethod } from '@sluice/http'
import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { StatusCode } from 'hono/utils/http-status'

/** Method of routes that accept every method. */
const ALL = 'ALL'

/** A request of Hono. The address is that of the peer, which the runtime provides in `c.env`. */
export class HonoExchange extends FetchExchange<Context> {
  constructor(c: Context) {
    super(c, c.req.raw, {
      life: FetchLife.of(c.get('sluice'), c, c.req.raw, () => endInfos(c)),
      peer: hostPeer(c.req.raw, runtimeInfos(c)),
    })
    c.set('sluice', this.life)
  }

  /** The pattern of the handler that the request reaches; middleware has patterns of its own. */
  override get route(): string | undefined {
    return this.#handler?.path
  }

  override get knowsRoutes(): boolean {
    return true
  }

  override get routeMethod(): string | undefined {
    const method = this.#handler?.method
    return method === undefined ? undefined : routeMethod(method === ALL ? [] : [method])
  }

  override getHeader(name: string): unknown {
    return super.getHeader(name) ?? this.raw.res.headers.get(name) ?? undefined
  }

  override discardPrepared(): void {
    const { raw } = this
    for (const name of namesIn(raw.res.headers, isOfRegularResponse)) raw.header(name, undefined)
  }

  /** Adds the headers of the denial to the response that `app.onError` makes with the context, which has none yet. */
  prepareHeaders(): void {
    this.raw.finalized = false
    for (const [name, value] of this.res.lines) if (!/^content-/i.test(name)) this.raw.header(name, value)
  }

  protected override respond(body: string | null): Response {
    const { status, lines } = this.res
    const response = this.raw.newResponse(body, status as StatusCode)
    const { headers } = response
    // headers that earlier middleware has prepared become headers of the denial, if they do not describe its response
    if (this.raw.req.routeIndex > 0) for (const name of namesIn(headers, isOfRegularResponse)) headers.delete(name)
    for (const [name, value] of lines) headers.set(name, value)
    return response
  }

  // middleware takes `next` as its second parameter
  get #handler(): { readonly path: string; readonly method: string } | undefined {
    return matchedRoutes(this.raw).findLast(({ handler }) => handler.length < 2)
  }
}

function namesIn(headers: Headers, isMeant: (name: string) => boolean): readonly string[] {
  const names: string[] = []
  for (const name of headers.keys()) if (isMeant(name)) names.push(name)
  return names
}

/** Returns what reports the end of a response, or waits for it. */
function endInfos(c: Context): readonly unknown[] {
  const infos = runtimeInfos(c)
  // a server of Node.js has no execution context, and reading it throws
  if ((infos[0] as { readonly outgoing?: unknown }).outgoing) return infos
  try {
    return [...infos, c.executionCtx]
  } catch {
    // runtimes other than Workers have none
    return infos
  }
}

/** What a runtime provides beside the request. */
export function runtimeInfos(c: Context): readonly unknown[] {
  const env: { readonly server?: unknown } = c.env ?? {}
  return [env, env.server]
}

/** Makes the lifecycle follow the responses that outer middleware sets in place of the present one. */
export function followReplacements(c: Context, life: FetchLife): void {
  if (!life.followReplacements()) return
  const res = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), 'res')
  if (!res) return
  Object.defineProperty(c, 'res', {
    configurable: true,
    get: () => res.get?.call(c),
    set: (next: Response | undefined) => res.set?.call(c, next && life.follow(next)),
  })
}
