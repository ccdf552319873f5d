import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { SeededRandom } from '@sluice/testkit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Middleware } from 'koa'
import type { Handler } from '../frameworks/framework.ts'

const body = (random: SeededRandom): Buffer => Buffer.alloc(random.pick([0, 10, 1_000_000]))
const parts = (): Readable => Readable.from(['part 1', 'part 2', 'part 3'])
const turn = (): Promise<void> => new Promise(setImmediate)

/** Waits for some turns of the event loop, to simulate work. */
async function turns(random: SeededRandom): Promise<void> {
  for (let left = random.whole(20); left > 0; left--) await turn()
}

const quietly = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => {},
    () => {},
  )

type Way = (req: IncomingMessage, res: ServerResponse, random: SeededRandom) => unknown

/** Name of the header of a client that waits for its response: its handler always ends. */
export const PATIENT = 'x-patient'

/** Ways in which handlers respond, or close the connection. */
const ending: readonly Way[] = [
  (_req, res) => void res.end('ok'),
  (_req, res, random) => void res.end(body(random)),
  (_req, res, random) => void turns(random).then(() => res.end(body(random))),
  async (_req, res, random) => {
    await turns(random)
    res.end(body(random))
  },
  (req, res) => void req.resume().on('end', () => res.end('ok')),
  (_req, res) => quietly(pipeline(parts(), res)),
  (_req, res, random) => quietly(turns(random).then(() => pipeline(parts(), res))),
  (_req, res) => void parts().pipe(res),
  (_req, res, random) =>
    void turns(random).then(() => (res as { stream?: Readable }).stream?.destroy() ?? res.destroy?.()),
]

/** Ways that end when the client leaves. */
const endless: readonly Way[] = [
  (_req, res) => quietly(once(res, 'close')),
  (_req, res) => quietly(pipeline(new PassThrough(), res)),
  (_req, res) => {
    res.write('a part')
    return quietly(finished(res))
  },
]

/** A `node:http` handler whose behaviour is chosen at random for each request. */
export function randomHandler(random: SeededRandom): Handler {
  const all = [...ending, ...endless]
  return (req, res) => random.pick(req.headers[PATIENT] ? ending : all)(req, res, random)
}

/** A response in Fastify's style. */
export function randomReply(random: SeededRandom): (request: FastifyRequest, reply: FastifyReply) => unknown {
  const replies: readonly ((reply: FastifyReply) => unknown)[] = [
    (reply) => reply.send(body(random)),
    (reply) => reply.send(parts()),
    (reply) => void turns(random).then(() => reply.send('ok')),
    async () => {
      await turns(random)
      return 'ok'
    },
    async (reply) => {
      await turns(random)
      return reply.send(parts())
    },
    async () => {
      throw new Error('a fault of the application')
    },
    (reply) => {
      reply.hijack()
      return quietly(pipeline(parts(), reply.raw))
    },
  ]
  const never: typeof replies = [(reply) => reply.send(new PassThrough()), (reply) => reply]
  const all = [...replies, ...never]
  return (request, reply) => random.pick(request.headers[PATIENT] ? replies : all)(reply)
}

/** A response in Koa's style. */
export function randomBody(random: SeededRandom): Middleware {
  const bodies: readonly (() => unknown)[] = [
    () => 'ok',
    () => body(random),
    parts,
    () => null,
    () => {
      throw new Error('a fault of the application')
    },
  ]
  const all = [...bodies, () => new PassThrough()]
  return async (ctx) => {
    if (random.whole(2) === 0) await turns(random)
    ctx.body = random.pick(ctx.headers[PATIENT] ? bodies : all)()
  }
}

/** A response to a Web-standard request. */
export function randomResponse(random: SeededRandom): () => Response | Promise<Response> {
  const responses: readonly (() => Response | Promise<Response>)[] = [
    () => new Response('ok'),
    () => new Response(new Uint8Array(body(random))),
    () => new Response(null, { status: random.pick([204, 304, 401]) }),
    () => new Response(Readable.toWeb(parts()) as ReadableStream),
    () => turns(random).then(() => new Response('ok')),
    () => {
      throw new Error('a fault of the application')
    },
    () => turns(random).then(() => Promise.reject(new Error('a fault of the application'))),
  ]
  return () => random.pick(responses)()
}
