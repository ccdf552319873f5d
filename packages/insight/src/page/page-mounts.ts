import type { IncomingMessage, ServerResponse } from 'node:http'

/** Handles requests of `node:http`, Express, Connect and Nest. `next` receives requests for other addresses. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void

/** The used part of Koa's context. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  respond?: boolean
  readonly request: object
}

export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>

/** The used part of a Fastify instance. */
interface FastifyApp {
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): unknown
  all(
    path: string,
    options: { readonly config: object },
    handler: (request: { readonly raw: unknown }, reply: FastifyReply) => void,
  ): unknown
}

interface FastifyReply {
  readonly raw: unknown
  hijack(): unknown
}

export type FastifyPlugin = (app: FastifyApp, options: unknown, done: () => void) => void

export function koaMount(handle: PageHandler): KoaMiddleware {
  return (context, next) =>
    new Promise((resolve, reject) => {
      const { req, res, request } = context
      const others = (error?: unknown) => {
        res.off('close', resolve)
        context.respond = true
        if (error === undefined) next().then(resolve, reject)
        else reject(error)
      }
      context.respond = false
      if ('body' in request) Object.assign(req, { body: request.body })
      // the default status in Koa, which later middleware expects
      res.statusCode = 404
      res.once('close', resolve)
      handle(req, res, others)
    })
}

export function fastifyMount(handlerAt: (path: string) => PageHandler): FastifyPlugin {
  return (app, _options, done) => {
    const handle = handlerAt(app.prefix)
    // the login body is read by the handler, so no parser must consume it
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _body, parsed) => parsed(null))
    const answer = (request: { readonly raw: unknown }, reply: FastifyReply) => {
      reply.hijack()
      handle(request.raw as IncomingMessage, reply.raw as ServerResponse)
    }
    // The sluice plugin limits every route of the application. A visit is some 30 requests, which would use up the
    // limit of the viewer.
    const options = { config: { sluice: { skipLimits: true } } }
    app.all('/', options, answer)
    app.all('/*', options, answer)
    done()
  }
}
