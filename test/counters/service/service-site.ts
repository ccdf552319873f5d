import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CounterServiceOptions, type Counters, counterService, createCounters } from '@sluice/counters'
import { expectDescribed, type SeenAnswer } from './described-answer.ts'

export interface Asked {
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Strings are sent unchanged, everything else as JSON with its content type. */
  readonly body?: unknown
}

/** A service that listens on this machine. Every answer received here is compared with the OpenAPI document. */
export class ServiceSite {
  readonly counters: Counters
  readonly #server: Server

  private constructor(server: Server, counters: Counters) {
    this.#server = server
    this.counters = counters
  }

  static async start(options: Partial<CounterServiceOptions> = {}): Promise<ServiceSite> {
    const counters = options.counters ?? createCounters()
    return ServiceSite.around(createServer(counterService({ ...options, counters })), counters)
  }

  /** Wraps a server that already contains the service. */
  static async around(server: Server, counters: Counters): Promise<ServiceSite> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new ServiceSite(server, counters)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** `mount`: path of the service, if it is not at the root. */
  async ask(method: string, path: string, { headers = {}, body }: Asked = {}, mount = ''): Promise<SeenAnswer> {
    const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
    const bytes = isRaw ? body : JSON.stringify(body)
    const typed = isRaw ? headers : { 'Content-Type': 'application/json', ...headers }
    const answer = await new Promise<SeenAnswer>((resolve, reject) => {
      // sent unchanged: fetch would resolve dot segments
      const sent = request({ host: '127.0.0.1', port: this.port, method, path: `${mount}${path}`, headers: typed })
      sent.on('error', reject).on('response', (res) => {
        const chunks: Buffer[] = []
        res.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = /json/.test(String(res.headers['content-type'])) && text !== ''
          resolve({ status: Number(res.statusCode), headers: res.headers, text, json: isJson ? JSON.parse(text) : {} })
        })
      })
      sent.end(bytes)
    })
    expectDescribed(method, path, answer)
    return answer
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.counters.close()
  }
}
