import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { limitUpgrade, type UpgradeLimit, type UpgradeLimitOptions, type UpgradeListener } from '@sluice/node-http'
import { until, Watcher } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'
import { tlsClient, tlsServer } from './tls-without-certificates.ts'

/** A handshake of an echo protocol. */
export function handshake(headers: Readonly<Record<string, string>> = {}, method = 'GET'): string {
  const all = { Host: 'a', Connection: 'Upgrade', Upgrade: 'echo', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /socket HTTP/1.1\r\n${lines.join('')}\r\n`
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'

const echo: UpgradeListener = (_req, socket, head) => {
  socket.write(SWITCHING)
  socket.write(head)
  socket.on('data', (chunk) => socket.write(chunk))
  socket.on('end', () => socket.end())
}

/** A client that can also reset its connection, over any protocol. */
export class SocketClient extends RawClient {
  readonly #connection: Socket

  constructor(socket: Socket, connection: Socket) {
    super(socket)
    this.#connection = connection
    connection.on('error', () => {})
  }

  reset(): void {
    this.#connection.resetAndDestroy()
  }
}

export interface UpgradeSiteOptions {
  readonly tls?: boolean
  readonly upgrade?: UpgradeListener
  /** Responds to requests that are not upgrades. */
  readonly request?: RequestListener
}

/** A server with limited upgrades, the events of its caps, and its clients. */
export class UpgradeSite {
  readonly watcher: Watcher = new Watcher()
  readonly server: Server
  readonly limit: UpgradeLimit
  readonly clients: SocketClient[] = []
  /** Upgrades that reached the listener after the limit. */
  readonly upgraded: IncomingMessage[] = []
  /** Server-side sockets. */
  readonly sockets: Duplex[] = []
  readonly #tls: boolean

  static async of(options: UpgradeLimitOptions, more: UpgradeSiteOptions = {}): Promise<UpgradeSite> {
    const site = new UpgradeSite(options, more)
    await once(site.server.listen(0, '127.0.0.1'), 'listening')
    return site
  }

  private constructor(
    { shed, rateLimit, inflightLimit }: UpgradeLimitOptions,
    { tls = false, upgrade = echo, request = (_req, res) => res.end() }: UpgradeSiteOptions,
  ) {
    const caps = inflightLimit && [inflightLimit].flat().map((cap) => ({ observers: [this.watcher], ...cap }))
    this.limit = limitUpgrade({ shed, rateLimit, inflightLimit: caps }, (req, socket, head) => {
      this.upgraded.push(req)
      return upgrade(req, socket, head)
    })
    this.#tls = tls
    this.server = tls ? createTlsServer(tlsServer, request) : createServer(request)
    this.server.on(tls ? 'secureConnection' : 'connection', (socket: Duplex) => this.sockets.push(socket))
    this.server.on('upgrade', this.limit)
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async client(): Promise<SocketClient> {
    const connection = connect(this.port, '127.0.0.1')
    const socket = this.#tls ? connectTls({ ...tlsClient, socket: connection }) : connection
    const client = new SocketClient(socket, connection)
    this.clients.push(client)
    await once(socket, this.#tls ? 'secureConnect' : 'connect')
    return client
  }

  /** Connects a client that sends this text. */
  async asking(text: string = handshake()): Promise<SocketClient> {
    const client = await this.client()
    client.send(text)
    return client
  }

  /** Connects a client whose upgrade is admitted. */
  async open(text?: string): Promise<SocketClient> {
    const client = await this.asking(text)
    await client.hears('101 Switching Protocols')
    return client
  }

  /** Returns the text that a client receives until its connection is closed. */
  async answer(text?: string): Promise<string> {
    const client = await this.asking(text)
    await client.closed()
    return client.heard
  }

  /** Waits until `acquired` permits have been acquired and released, and checks that each was released once. */
  async allReleased(acquired: number): Promise<void> {
    const { watcher } = this
    await until(() => watcher.acquired >= acquired && watcher.held <= 0, {
      what: `${watcher.held} places to come back`,
    })
    assert.deepEqual([watcher.acquired, watcher.released, watcher.fewestHeld], [acquired, acquired, 0])
    for (const cap of this.limit.caps) assert.equal(cap.count(), 0)
  }

  /** Closes everything, and checks that no permit stays held. */
  async close(): Promise<void> {
    for (const client of this.clients) client.leave()
    this.server.closeAllConnections()
    this.server.close()
    // a socket without a listener never reports that the client has disconnected
    for (const socket of this.sockets) socket.destroy()
    await until(() => this.sockets.every((socket) => socket.destroyed), { what: 'the end of all sockets' })
    await until(() => this.watcher.held === 0, { what: `${this.watcher.held} places to come back` })
    assert.equal(this.watcher.fewestHeld, 0)
    this.limit.close()
  }
}
