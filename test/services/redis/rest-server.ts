import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'

type Command = readonly (string | number)[]

/** Treats a request in another way than the server does. `run` runs its commands and sends the answer. */
export type Fault = (res: ServerResponse, run: () => Promise<void>) => unknown

/** The token of every server. */
export const TOKEN = 'secret-token'

/**
 * A server of the REST protocol of Upstash, as documented, in front of a real Redis: a command or a pipeline in the body,
 * errors with status 400, and strings in base64 if the client asks for it.
 */
export class RestServer {
  readonly url: string
  /** Requests with their bodies, in the order in which they arrived. */
  readonly requests: unknown[] = []
  /** For the next requests, one each. */
  readonly faults: Fault[] = []
  readonly #server: Server
  readonly #redis: Redis

  static async start(redisPort: number): Promise<RestServer> {
    const redis = new Redis({ port: redisPort, lazyConnect: true })
    await redis.connect()
    const server = createServer((req, res) => void rest.#answer(req, res))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const rest = new RestServer(server, redis)
    return rest
  }

  private constructor(server: Server, redis: Redis) {
    this.#server = server
    this.#redis = redis
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#redis.disconnect()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part as Buffer)
    const body = JSON.parse(Buffer.concat(parts).toString()) as Command | readonly Command[]
    this.requests.push(body)
    const run = async (): Promise<void> => {
      const { status, answer } = await this.#answerTo(req, body)
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
    }
    const fault = this.faults.shift()
    await (fault ? fault(res, run) : run())
  }

  async #answerTo(
    req: IncomingMessage,
    body: Command | readonly Command[],
  ): Promise<{ status: number; answer: unknown }> {
    if (req.headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, answer: { error: 'Unauthorized' } }
    const encoded = req.headers['upstash-encoding'] === 'base64'
    if (req.url === '/pipeline') {
      const answers = (body as readonly Command[]).map((command) => this.#resultOf(command, encoded))
      return { status: 200, answer: await Promise.all(answers) }
    }
    const answer = await this.#resultOf(body as Command, encoded)
    return { status: 'error' in answer ? 400 : 200, answer }
  }

  async #resultOf([name, ...args]: Command, encoded: boolean): Promise<{ result: unknown } | { error: string }> {
    try {
      return { result: written(await this.#redis.callBuffer(String(name), ...args.map(String)), encoded) }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }
}

function written(reply: unknown, encoded: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((one) => written(one, encoded))
  if (!Buffer.isBuffer(reply)) return reply
  const text = reply.toString()
  return encoded && text !== 'OK' ? reply.toString('base64') : text
}
