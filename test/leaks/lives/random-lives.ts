import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp1, type RequestListener, type Server } from 'node:http'
import { createServer as createHttp2, type Http2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { InflightLimiter } from '@sluice/node-http'
import { baseSeed, type SeededRandom, seededRandom, until, Watcher } from '@sluice/testkit'
import { fastify } from 'fastify'
import Koa from 'koa'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { fastifyWith } from '../frameworks/fastify-framework.ts'
import type { Framework, Handler } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { overHttp2 } from '../frameworks/http2-site.ts'
import { koaWith } from '../frameworks/koa-framework.ts'
import { fetchWith, honoWith } from '../frameworks/web-framework.ts'
import { http1Life } from './http1-life.ts'
import { http2Life } from './http2-life.ts'
import { randomBody, randomHandler, randomReply, randomResponse } from './life-handlers.ts'
import { LifeStack } from './life-stack.ts'

const LIMIT = 4
const AT_ONCE = 16

/** Configuration of one server: response style of its handlers, what its cap waits for, and the protocol. */
export interface Scene {
  readonly name: string
  readonly framework: (random: SeededRandom) => Framework
  readonly handler: (random: SeededRandom) => Handler
  readonly wrapped: boolean
  readonly http2: boolean
  /** Whether a request ends with its Web-standard response: then its place is free before the server has sent it. */
  readonly web?: boolean
}

type Idiom = Pick<Scene, 'framework' | 'handler' | 'web'>

/** Handlers that leave the response to the following step. */
const followed = (framework: Scene['framework']): Idiom => ({ framework, handler: () => () => {} })

const idioms: Readonly<Record<string, Idiom>> = {
  ...Object.fromEntries(
    Object.entries(frameworks).map(([name, framework]) => [
      name,
      { framework: () => framework, handler: randomHandler },
    ]),
  ),
  'Koa 3 by its body': followed((random) => koaWith(Koa, randomBody(random))),
  'Koa 2 by its body': followed((random) => koaWith(Koa2, randomBody(random))),
  'Fastify 5 by its reply': followed((random) => fastifyWith(fastify, randomReply(random))),
  'Fastify 4 by its reply': followed((random) => fastifyWith(fastify4, randomReply(random))),
  'fetch handlers': { ...followed((random) => fetchWith(randomResponse(random))), web: true },
  'Hono 4': { ...followed((random) => honoWith(randomResponse(random))), web: true },
}

/** Every framework, with a cap before and around the handler, over HTTP/1 and, if supported, HTTP/2. */
export const scenes: readonly Scene[] = Object.entries(idioms).flatMap(([name, idiom]) =>
  [false, true].flatMap((wrapped) =>
    [false, true]
      .filter((http2) => !http2 || overHttp2.some((known) => name.startsWith(known)))
      .map((http2) => ({
        name: `${name} over HTTP/${http2 ? 2 : 1} with a cap ${wrapped ? 'around' : 'before'} its handler`,
        ...idiom,
        wrapped,
        http2,
      })),
  ),
)

/**
 * Runs `times` random client lives against a server behind a cap, all from one seed. Afterwards every permit must have
 * been released once, and the cap must admit as many as before. Returns how many ms after the end of the last connection
 * the last permit was released.
 */
export async function liveAtRandom(scene: Scene, times: number): Promise<number> {
  try {
    return await new RandomLives(scene, seededRandom(baseSeed())).run(times)
  } catch (error) {
    throw new Error(`SLUICE_SEED=${baseSeed()}: ${error}`, { cause: error })
  }
}

class RandomLives {
  readonly #watcher = new Watcher()
  readonly #random: SeededRandom
  readonly #server: Server | Http2Server
  readonly #life: typeof http1Life
  readonly #cap: InflightLimiter
  readonly #countsOpen: boolean
  readonly #queues: boolean
  readonly #stack: LifeStack
  readonly #connections = new Set<Socket>()
  #open = 0
  #mostOpen = 0

  constructor({ framework, handler, wrapped, http2, web = false }: Scene, random: SeededRandom) {
    this.#random = random
    this.#countsOpen = !web
    this.#life = http2 ? http2Life : http1Life
    const framed = framework(random)
    const { inflightLimit, listener } = framed
    this.#queues = random.whole(2) === 0
    const queue = this.#queues ? { max: 8, maxWaitMs: 20 } : undefined
    const cap = inflightLimit({ limit: LIMIT, observers: [this.#watcher], ...(queue && { queue }) })
    this.#cap = cap.limiter
    this.#stack = new LifeStack(framed, random)
    const { steps: before } = this.#stack
    const counted = this.#counted(handler(random))
    const steps: RequestListener = wrapped ? listener(...before, cap.wrap(counted)) : listener(...before, cap, counted)
    this.#server = http2 ? createHttp2(steps as never) : createHttp1(steps)
    this.#server.on('sessionError', () => {})
    this.#server.on('connection', (socket) => {
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
  }

  /** Returns after how many ms the last permit was released, once all connections had ended. */
  async run(times: number): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    const { port } = this.#server.address() as AddressInfo
    let left = times
    const visitor = async (): Promise<void> => {
      while (left-- > 0) await this.#life(port, this.#random)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, visitor))
    // the end of a client behind pipelined requests is noticed after 30 s only, which other tests prove
    const areOver = (): boolean => this.#connections.size === 0
    await until(areOver, { what: 'the end of all connections', timeoutMs: 2_000 }).catch(() => {})
    for (const socket of this.#connections) socket.destroy()
    await until(areOver, { what: 'the end of all connections' })
    const since = performance.now()
    await until(() => this.#watcher.held <= 0, { what: `${this.#watcher.held} held places to come back` })
    const tookMs = performance.now() - since
    await this.#wasExact()
    await this.#stack.wasExact()
    this.#server.close()
    await once(this.#server, 'close')
    return tookMs
  }

  /** Counts responses from their handler to their end. */
  #counted(handler: Handler): Handler {
    return (req, res) => {
      this.#open++
      this.#mostOpen = Math.max(this.#mostOpen, this.#open)
      let over = false
      const end = (): void => {
        if (!over) this.#open--
        over = true
      }
      res.once('finish', end).once('close', end)
      if (req.httpVersionMajor < 2) req.socket.once('error', end).once('close', end)
      return handler(req, res)
    }
  }

  async #wasExact(): Promise<void> {
    const { acquired, released, fewestHeld, mostHeld, denied } = this.#watcher
    assert.deepEqual({ released, fewestHeld }, { released: acquired, fewestHeld: 0 })
    const isTried = this.#queues || denied > 0
    assert.ok(acquired > 0 && isTried, `${acquired} were let in, and ${denied} denied: the cap was not tried`)
    const mostOpen = this.#countsOpen ? this.#mostOpen : 0
    assert.ok(mostHeld <= LIMIT && mostOpen <= LIMIT, `${mostHeld} held, ${mostOpen} open, of ${LIMIT}`)
    assert.equal(this.#cap.count(), 0)
    // a cap with a queue refuses some work for a while after an overload
    if (this.#queues) return
    const permits = []
    for (let place = 0; place <= LIMIT; place++) permits.push(await this.#cap.acquire())
    assert.equal(permits.filter((permit) => permit !== undefined).length, LIMIT)
    for (const permit of permits) permit?.release()
  }
}
