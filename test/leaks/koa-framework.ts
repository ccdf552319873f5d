import * as ofKoa from '@sluice/koa'
import type Koa from 'koa'
import type { Framework, Handler, Step } from './framework.ts'

type Maker = (options: never) => ofKoa.KoaMiddleware & object

/**
 * Koa behind steps of `(req, res, next)`: our limiters run as its middleware. Handlers answer by themselves, unless
 * there is an `answer` in Koa's own idiom, which follows them.
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
    listener: (...steps) => {
      const app = new Make()
      app.silent = true
      for (const step of steps) app.use(middlewareOf.get(step) ?? (step.length < 3 ? last(step as Handler) : on(step)))
      return app.callback()
    },
  }
}

/** A handler that answers by itself: Koa, which begins with 404, leaves the response alone. */
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

/** A step that goes on when it likes; Koa waits for what follows. */
function on(step: Step): Koa.Middleware {
  return (ctx, next) =>
    new Promise<void>((resolve, reject) => {
      step(ctx.req, ctx.res, () => next().then(resolve, reject))
    })
}
