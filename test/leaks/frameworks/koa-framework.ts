import * as ofKoa from '@sluice/koa'
import type Koa from 'koa'
import type { Framework, Handler, Step } from './framework.ts'

type Maker = (options: never) => ofKoa.KoaMiddleware & object

/**
 * Koa behind steps of `(req, res, next)`: our limiters run as its middleware. Handlers write the raw response, unless
 * there is an `answer` in Koa's style, which follows them.
 */
export function koaWith(Make: typeof Koa, answer?: Koa.Middleware): Framework {
  const last = (handler: Handler): Koa.Middleware => (answer ? followed(handler, answer) : left(handler))
  const middlewareOf = new WeakMap<Step, Koa.Middleware>()
  const asStep = (middleware: Koa.Middleware): Step => {
    const step: Step = () => {
      throw new Error('a limiter of Koa runs as its middleware alone')
    }
    middlewareOf.set(step, middleware)
    return step
  }
  const maker = (make: Maker) => (options: unknown) => {
    const limit = make(options as never)
    return Object.assign(asStep(limit), limit, { wrap: (handler: Handler) => asStep(limit.wrap(last(handler))) })
  }
  return {
    inflightLimit: maker(ofKoa.inflightLimit) as unknown as Framework['inflightLimit'],
    rateLimit: maker(ofKoa.rateLimit) as unknown as Framework['rateLimit'],
    slowDown: maker(ofKoa.slowDown) as unknown as Framework['slowDown'],
    listener: (...steps) => {
      const app = new Make()
      app.silent = true
      for (const step of steps) app.use(middlewareOf.get(step) ?? (step.length < 3 ? last(step as Handler) : on(step)))
      return app.callback()
    },
  }
}

/** A handler that writes the raw response; Koa, whose default is 404, does not touch it. */
function left(handler: Handler): Koa.Middleware {
  return (ctx) => {
    ctx.status = 200
    ctx.respond = false
    return handler(ctx.req, ctx.res)
  }
}

function followed(handler: Handler, answer: Koa.Middleware): Koa.Middleware {
  return (ctx, next) => {
    handler(ctx.req, ctx.res)
    return answer(ctx, next)
  }
}

/** A step that calls next at any time; Koa waits for the following steps. */
function on(step: Step): Koa.Middleware {
  return (ctx, next) =>
    new Promise<void>((resolve, reject) => {
      step(ctx.req, ctx.res, () => next().then(resolve, reject))
    })
}
