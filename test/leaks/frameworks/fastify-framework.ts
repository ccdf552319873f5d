import type { RequestListener } from 'node:http'
import * as ofFastify from '@sluice/fastify'
import type { FastifyReply, FastifyRequest, fastify, onRequestHookHandler } from 'fastify'
import type { Framework, Handler, Step } from './framework.ts'
import { OwnSteps } from './own-steps.ts'

type Answering = (request: FastifyRequest, reply: FastifyReply) => unknown
type Maker = (options: never) => ofFastify.FastifyHook & object
type Makers = Readonly<Record<'inflightLimit' | 'rateLimit' | 'slowDown', Maker>>

/**
 * Fastify behind steps of `(req, res, next)`: our limiters run as its hooks. Handlers write to the raw response, unless
 * there is an `answer` in Fastify's style, which follows them.
 */
export function fastifyWith(make: typeof fastify, answer?: Answering): Framework {
  const last = (handler: Handler): Answering => (answer ? followed(handler, answer) : past(handler))
  const own = new OwnSteps<ReturnType<Maker>>()
  return {
    ...own.makersOf(ofFastify as unknown as Makers),
    listener: (...steps) => {
      const before = steps.slice(0, -1).map((step) => own.limitOf(step) ?? asHook(step))
      const final = steps.at(-1) as Step
      const wrapped = own.wrappedBy(final)
      return listenerOf(make, before, wrapped ? wrapped.limit.wrap(last(wrapped.handler)) : last(final as Handler))
    },
  }
}

function listenerOf(make: typeof fastify, before: onRequestHookHandler[], handler: Answering): RequestListener {
  const over = (options: object): RequestListener => {
    const app = make(options)
    // handlers read the bodies themselves
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const hook of before) app.addHook('onRequest', hook)
    app.all('/*', handler)
    let ready = false
    app.ready(() => {
      ready = true
    })
    return (req, res) => (ready ? app.routing(req, res) : void app.ready(() => app.routing(req, res)))
  }
  const [http1, http2] = [over({}), over({ http2: true })]
  return (req, res) => (req.httpVersionMajor < 2 ? http1 : http2)(req, res)
}

function asHook(step: Step): onRequestHookHandler {
  return (request, reply, done) => void step(request.raw, reply.raw, done as (error?: unknown) => void)
}

function followed(handler: Handler, answer: Answering): Answering {
  return (request, reply) => {
    handler(request.raw, reply.raw)
    return answer(request, reply)
  }
}

/** Passes errors to Fastify, and leaves the response to the handler. */
function past(handler: Handler): Answering {
  return (request, reply) => {
    const work = handler(request.raw, reply.raw)
    if (work instanceof Promise) return work.then(() => void reply.hijack())
    reply.hijack()
    return undefined
  }
}
