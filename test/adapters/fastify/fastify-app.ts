import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  type FastifyRouteLimits,
  inflightLimit,
  type RequestSluice,
  rateLimit,
  shed,
  slowDown,
  sluice,
} from '@sluice/fastify'
import {
  type AppDescription,
  type HookBridge,
  type LayeredDescription,
  type LayeredRoute,
  type LayerSpec,
  type LimiterSpec,
  nativeLayer,
  nativeOptions,
  onceEach,
  type Reply,
  type RunningApp,
} from '@sluice/testkit'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'

const bridge: HookBridge<FastifyRequest, FastifyReply> = {
  request: ({ raw }) => ({
    method: raw.method ?? '',
    header: (name) => raw.headers[name] as string | undefined,
  }),
  response: (reply) => ({
    get statusCode() {
      return reply.statusCode
    },
    status: (code) => {
      reply.code(code)
    },
    send: (answer) => send(reply, answer),
  }),
}

function send(reply: FastifyReply, { status, headers = {}, body = '', parts }: Reply): FastifyReply {
  if (status !== undefined) reply.code(status)
  return reply.headers(headers).send(parts ? Readable.from(parts) : body)
}

async function listening(app: FastifyInstance): Promise<RunningApp> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    port: (app.server.address() as AddressInfo).port,
    close: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/** Builds the contract's application from hooks on an empty Fastify application. */
export function fastifyApp(app: FastifyInstance, description: AppDescription): Promise<RunningApp> {
  const { headers = {}, limits, routes, builtPerRequest } = description
  const limiter = builtPerRequest ? built : onceEach(built)
  const hook = (spec: LimiterSpec): onRequestHookHandler =>
    builtPerRequest ? (request, reply, done) => limiter(spec)(request, reply, done) : limiter(spec)
  takeAnyBody(app)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  for (const spec of limits) app.addHook('onRequest', hook(spec))
  for (const { path, limits: own = [], handler } of routes) {
    app.all(path, { onRequest: own.map(hook) }, answering(handler))
  }
  return listening(app)
}

/** Builds the application of the overrides contract with the plugin. */
export async function layeredApp(app: FastifyInstance, description: LayeredDescription): Promise<RunningApp> {
  const { routes, group } = description
  await app.register(sluice, native(description.app))
  declare(app, routes)
  if (group) {
    await app.register(async (part) => {
      await part.register(sluice, native(group.layer))
      declare(part, group.routes)
    })
  }
  return listening(app)
}

function native(layer: LayerSpec): FastifyRouteLimits {
  return nativeLayer<FastifyRouteLimits, FastifyRequest, FastifyReply>(layer, bridge)
}

function declare(app: FastifyInstance, routes: readonly LayeredRoute[]): void {
  for (const { path, layer, handler = () => ({}) } of routes) {
    app.all(path, layer ? { config: { sluice: native(layer) } } : {}, answering(handler))
  }
}

function answering(handler: NonNullable<LayeredRoute['handler']>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    send(reply, await handler({ request: bridge.request(request), sluice: request.sluice as RequestSluice }))
}

// Fastify would reject a body whose content type has no parser
function takeAnyBody(app: FastifyInstance): void {
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume().on('end', () => done(null))
  })
}

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec): ReturnType<typeof rateLimit> {
  return makers[kind](nativeOptions(options, bridge)) as ReturnType<typeof rateLimit>
}
