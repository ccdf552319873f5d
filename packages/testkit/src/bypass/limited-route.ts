import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { ask } from '../adapter/stage/client.ts'
import type { BypassAnswer, BypassContractOptions, LimitedApp } from './limited-app.ts'
import type { Spelling } from './spellings.ts'

/** Responses after which a server may have closed the connection. */
const NO_ANSWER: BypassAnswer = { status: 0, headers: {}, body: '' }

/** The limited route of an application under test, and what its handler answers. */
export class LimitedRoute {
  readonly port: number
  readonly limit: number
  readonly #app: LimitedApp
  readonly #options: BypassContractOptions
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #session: ClientHttp2Session | undefined
  #plain: BypassAnswer | undefined

  constructor(app: LimitedApp, options: BypassContractOptions) {
    const { limit = 3 } = options
    assert.ok(Number.isInteger(limit) && limit >= 2, `limit: expected an integer of at least 2, received ${limit}`)
    this.#app = app
    this.#options = options
    this.port = app.port
    this.limit = limit
  }

  /** Number of requests that the limit still allows after `learn`. */
  get left(): number {
    return this.limit - 2
  }

  /** Connection of HTTP/2, made on first use. */
  get session(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://127.0.0.1:${this.port}`)
      this.#session.on('error', () => {})
    }
    return this.#session
  }

  /** Headers of HTTP/2 for a spelling. */
  headersOf({ method = this.#options.method ?? 'POST', target, headers }: Spelling): Record<string, string> {
    // HTTP/2 has no headers of the connection
    const { connection, upgrade, host, ...others } = { ...this.#options.headers, ...headers } as Record<string, string>
    return { ':method': method, ':path': target, ...(host && { ':authority': host }), ...others }
  }

  /** Sends two plain requests, whose responses show what the handler answers. */
  async learn(): Promise<void> {
    const [first, second] = [await this.#ask(this.#plainSpelling), await this.#ask(this.#plainSpelling)]
    const { isHandled } = this.#options
    for (const one of [first, second]) {
      const isDenied = [0, 404, 405, 429, 503].includes(one.status) || isHandled?.(one) === false
      assert.ok(!isDenied, `the plain request was not handled: status ${one.status}`)
    }
    if (isHandled === undefined)
      assert.equal(second.body, first.body, 'pass the option isHandled if the handler sends different responses')
    this.#plain = first
  }

  /** Uses up the limit by plain requests. */
  async useUp(): Promise<void> {
    await this.learn()
    for (let turn = 2; turn < this.limit; turn++)
      assert.ok(await this.isHandled(this.#plainSpelling), `the limit denied request ${turn + 1} of ${this.limit}`)
    assert.ok(!(await this.isHandled(this.#plainSpelling)), `the limit allowed more than ${this.limit} plain requests`)
  }

  /** Sends a request, and returns whether the handler answered it. */
  async isHandled(spelling: Spelling): Promise<boolean> {
    return this.isOfHandler(await this.#ask(spelling), spelling.method)
  }

  /** Sends requests one after the other, and returns the names of those that the handler answered. */
  async handled(spellings: Iterable<Spelling>): Promise<string[]> {
    const names: string[] = []
    for (const one of spellings) if (!this.#isExcepted(one) && (await this.isHandled(one))) names.push(one.name)
    return names
  }

  /** Whether a response to a request of `method` is one of the handler. */
  isOfHandler(answer: BypassAnswer, method?: string): boolean {
    const { isHandled } = this.#options
    if (answer === NO_ANSWER) return false
    if (isHandled) return isHandled(answer)
    const { status, body } = this.#plain as BypassAnswer
    return answer.status === status && (method === 'HEAD' || answer.body === body)
  }

  async kept(): Promise<number> {
    return (await this.#app.kept?.()) ?? 0
  }

  async held(): Promise<number> {
    return (await this.#app.held?.()) ?? 0
  }

  get plain(): Spelling {
    return this.#plainSpelling
  }

  close(): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }

  #isExcepted({ name }: Spelling): boolean {
    return Object.hasOwn(this.#options.except ?? {}, name)
  }

  get #plainSpelling(): Spelling {
    return { name: 'the plain request', target: this.#options.path ?? '/login' }
  }

  async #ask(spelling: Spelling): Promise<BypassAnswer> {
    try {
      return await (this.#options.http2 ? this.#askHttp2(spelling) : this.#askHttp1(spelling))
    } catch {
      // the server closes the connection of a request that it cannot parse
      return NO_ANSWER
    }
  }

  #askHttp1({ method = this.#options.method ?? 'POST', target, headers }: Spelling): Promise<BypassAnswer> {
    const isUpgrade = headers?.upgrade !== undefined
    return ask(this.port, {
      method,
      path: target,
      headers: { ...this.#options.headers, ...headers },
      ...(!isUpgrade && { agent: this.#agent }),
    })
  }

  #askHttp2(spelling: Spelling): Promise<BypassAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.session.request(this.headersOf(spelling))
      const chunks: Buffer[] = []
      let head: Record<string, unknown> = {}
      stream.on('response', (received) => {
        head = received
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('error', reject)
      stream.once('close', () => {
        const body = Buffer.concat(chunks).toString('latin1')
        resolve({ status: Number(head[':status'] ?? 0), headers: head as Record<string, string>, body })
      })
      stream.end()
    })
  }
}
