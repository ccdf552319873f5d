// Clients of the API, so that its limits are at work before anybody has typed a thing. TRAFFIC=off: there are none.
import { type ClientRequest, type RequestOptions, request, type Server } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'

/** One client, which stays with one site. */
interface Client {
  /** Of the networks that are set aside for documentation (RFC 5737, RFC 3849), each client of another one. */
  readonly address: string
  readonly everyMs: number
  /** A method and a path each, one after the other, then from the first again. */
  readonly asks: readonly string[]
  /** As many of them at once. */
  readonly atOnce?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Its limit counts all clients together: it leaves the first site, which the printed lines ask, to whoever reads them. */
  readonly isShared?: boolean
}

const guess = JSON.stringify({ password: 'guess' })

const clients: readonly Client[] = [
  { address: '192.0.2.10', everyMs: 900, asks: ['GET /', 'GET /search?results=10', 'GET /'] },
  { address: '198.51.100.20', everyMs: 1_300, asks: ['GET /search?results=30', 'GET /'] },
  // asks for more than its 20 units in 10 s
  { address: '203.0.113.30', everyMs: 1_100, asks: ['GET /search?results=100', 'GET /search?results=40'] },
  // 600 words a minute are 10 a second: the third and every later one is cut short
  { address: '2001:db8:40::1', everyMs: 8_000, asks: ['GET /chat?words=150', 'GET /chat?words=90'] },
  { address: '2001:db8:50::1', everyMs: 3_000, asks: ['GET /chat?words=25'] },
  // guesses passwords
  { address: '2001:db8:60::1', everyMs: 4_000, asks: ['POST /login'] },
  // 40 a minute of the 30 that a key has
  { address: '2001:db8:70::1', everyMs: 1_500, asks: ['GET /v1'], headers: { 'x-api-key': 'demo-2' }, isShared: true },
  // three at once, of which two have a place
  { address: '2001:db8:80::1', everyMs: 7_000, asks: ['GET /slow'], atOnce: 3, isShared: true },
]

/** Asks some requests a second of these servers until it is stopped. */
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

  /** Ends what is under way, too. */
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
    // the server ends first at Ctrl-C
    sent.once('error', () => {})
    sent.end(body)
  }
}

/**
 * A connection that comes from that address, as the server sees it: both of its ends are in this process, and no byte
 * leaves it. Nobody has to trust a header for it, and nobody else shares the address.
 */
function connected(server: Server, address: string): Duplex {
  const [ours, theirs] = duplexPair()
  server.emit('connection', Object.assign(theirs, { remoteAddress: address }))
  return ours
}
