import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** What a server received. */
interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly status: number
}

export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex')}"`

/** An HTTP server with one document at `/policies.yaml`. */
export class DocumentServer {
  text: string | undefined
  /** Whether responses have an `ETag`. Default: true. */
  etags = true
  /** Value of `Last-Modified`, and of `Date`. Default: neither `Last-Modified` nor a chosen `Date`. */
  times: { readonly modified: string; readonly date: string } | undefined
  compressed = false
  /** Answers instead of the document. */
  answer: ((path: string, response: ServerResponse) => boolean) | undefined
  readonly received: Received[] = []
  #server: Server | undefined
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}/policies.yaml`
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      response.on('close', () => {
        this.received.push({ path: request.url ?? '', headers: request.headers, status: response.statusCode })
      })
      if (!this.answer?.(request.url ?? '', response)) this.#send(request.headers, response)
    })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  #send(headers: IncomingHttpHeaders, response: ServerResponse): void {
    const { text, times } = this
    if (text === undefined) {
      response.writeHead(404).end('nothing here')
      return
    }
    const etag = this.etags ? etagOf(text) : undefined
    if (etag) response.setHeader('etag', etag)
    if (times) response.setHeader('last-modified', times.modified).setHeader('date', times.date)
    const isSame = etag ? headers['if-none-match'] === etag : headers['if-modified-since'] === times?.modified
    if (isSame && (etag || times)) response.writeHead(304).end()
    else if (this.compressed) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(text)
  }
}
