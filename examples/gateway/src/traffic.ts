// Built-in clients of the API, which show its limits without any input. TRAFFIC=off disables them.
import { type ClientRequest, type RequestOptions, request, type Server } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'

/** A client, which always uses the same site. */
interface Client {
  /** Address from a network reserved for documentation (RFC 5737, RFC 3849), a different network for each client. */
  readonly address: string
  readonly everyMs: number
  /** Requests as method and path, sent in order and then repeated. */
  readonly asks: readonly string[]
  /** Number of concurrent requests. */
  readonly atOnce?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the limit counts all clients together; such a client avoids the first site, which the printed lines use. */
  readonly isShared?: boolean
}

const guess = JSON.stringify({ password: 'guess' })

const clients: readonly Client[] = [
  { address: '192.0.2.10', everyMs: 900, asks: ['GET /', 'GET /search?results=10', 'GET /'] },
  { address: '198.51.100.20', everyMs: 1_300, asks: ['GET /search?results=30', 'GET /'] },
  // uses more than its 20 units in 10 s
  { address: '203.0.113.30', everyMs: 1_100, asks: ['GET /search?results=100', 'GET /search?results=40'] },
  // 600 words a minute are 10 a second: the third and all later requests are cut short
  { address: '2001:db8:40::1', everyMs: 8_000, asks: ['GET /chat?words=150', 'GET /chat?words=90'] },
  { address: '2001:db8:50::1', everyMs: 3_000, asks: ['GET /chat?words=25'] },
  // guesses passwords
  { address: '2001:db8:60::1', everyMs: 4_000, asks: ['POST /login'] },
  // 40 requests a minute, above the 30 of its key
  { address: '2001:db8:70::1', everyMs: 1_500, asks: ['GET /v1'], headers: { 'x-api-key': 'demo-2' }, isShared: true },
  // three at once, two of which get a permit
  { address: '2001:db8:80::1', everyMs: 7_000, asks: ['GET /slow'], atOnce: 3, isShared: true },
]

/** Sends some requests per second to these servers until it is stopped. */
export class Traffic {
  readonly #timers: NodeJS.Timeout[]
  readonly #open = new Set<ClientRequest>()

  constructor(servers: readonly Server[]) {
    this.#timers = clients.map((client, index) => {
      const choice = client.isShared ? servers.slice(1) : servers
      const server = choice[index % choice.length]
      let turn = 0
      const ask = () => this.#ask(server, client, turn++)
      ask()
      return setInterval(ask, client.everyMs)
    })
  }

  /** Also aborts pending requests. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const each of this.#open) each.destroy()
  }

  #ask(server: Server, client: Client, turn: number): void {
    const [method, path] = client.asks[turn % client.asks.length].split(' ')
    for (let asked = 0; asked < (client.atOnce ?? 1); asked++) this.#send(server, client, { method, path })
  }

  #send(server: Server, { address, headers }: Client, asked: RequestOptions): void {
    const body = asked.method === 'POST' ? guess : ''
    const sent = request({
      ...asked,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length, connection: 'close' },
      createConnection: () => connected(server, address),
    })
    this.#open.add(sent)
    sent.once('close', () => this.#open.delete(sent))
    sent.once('response', (response) => response.resume())
    // on Ctrl-C the server ends first
    sent.once('error', () => {})
    sent.end(body)
  }
}

/**
 * A connection that appears to the server to come from this address: both of its ends are in this process, and no byte
 * leaves it. No header has to be trusted for it, and no other client has the address.
 */
function connected(server: Server, address: string): Duplex {
  const [ours, theirs] = duplexPair()
  server.emit('connection', Object.assign(theirs, { remoteAddress: address }))
  return ours
}
