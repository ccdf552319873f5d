import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import * as ofFetch from '@sluice/fetch'
import * as ofHono from '@sluice/hono'
import { type Context, Hono } from 'hono'
import type { Framework, Handler, Step } from './framework.ts'
import { OwnSteps } from './own-steps.ts'

/** What the server passes beside a request. */
interface Info {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}
type Answering = (request: Request) => Response | Promise<Response>
type Maker = (options: never) => object
type Middleware = (request: Request, info: Info, next: () => Promise<Response>) => Promise<Response>

const failed = (): Response => new Response('failed', { status: 500 })

/** Handlers of Web-standard requests behind steps: our limits run as middleware, and `answer` follows the handlers. */
export function fetchWith(answer: Answering): Framework {
  return webWith(ofFetch as never, (steps, handler) => {
    const run = async (request: Request, info: Info, index = 0): Promise<Response> => {
      if (index < steps.length) return (steps[index] as Middleware)(request, info, () => run(request, info, index + 1))
      handler(info.incoming, info.outgoing)
      return answer(request)
    }
    return getRequestListener((request, info) => run(request, info as unknown as Info), { errorHandler: failed })
  })
}

/** Hono behind steps: our limits run as its middleware, and `answer` follows the handlers. */
export function honoWith(answer: Answering): Framework {
  return webWith(ofHono as never, (steps, handler) => {
    const app = new Hono()
    app.onError(failed)
    for (const step of steps) app.use(step as never)
    app.all('*', (c: Context) => {
      handler(c.env.incoming, c.env.outgoing)
      return answer(c.req.raw)
    })
    return getRequestListener(app.fetch)
  })
}

type Listen = (steps: readonly unknown[], handler: Handler) => ReturnType<typeof getRequestListener>

/** The handler of a cap around it has the cap as its last step: `wrap` is the same for these frameworks. */
function webWith(from: Readonly<Record<'inflightLimit' | 'rateLimit' | 'slowDown', Maker>>, listen: Listen): Framework {
  const own = new OwnSteps<object>()
  return {
    ...own.makersOf(from),
    listener: (...steps) => {
      const final = steps.at(-1) as Step
      const wrapped = own.wrappedBy(final)
      const before = steps.slice(0, -1).map((step) => own.limitOf(step))
      const all = wrapped ? [...before, wrapped.limit] : before
      return listen(all, wrapped?.handler ?? (final as Handler)) as ReturnType<Framework['listener']>
    },
  }
}
