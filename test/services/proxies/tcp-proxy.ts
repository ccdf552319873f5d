import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { onFreePorts } from '../free-port.ts'
import type { PathFaults } from './delayed-bytes.ts'
import { ProxyLink } from './proxy-link.ts'

export interface TcpProxyOptions {
  /** Random numbers from 0 to 1 (exclusive) that decide about losses. Default: `Math.random`. */
  readonly random?: () => number
}

/** A port on the loopback interface that simulates a remote server. */
export function startProxy(targetPort: number, { random = Math.random }: TcpProxyOptions = {}): Promise<TcpProxy> {
  return onFreePorts(async (port) => {
    const proxy = new TcpProxy(port, targetPort, random)
    await proxy.accept()
    return proxy
  })
}

/** Created by `startProxy`. */
export class TcpProxy {
  readonly port: number
  readonly url: string
  /** Number of connections accepted so far. */
  connections = 0
  #targetPort: number
  readonly #random: () => number
  readonly #links = new Set<ProxyLink>()
  #server: Server | undefined
  #faults: PathFaults = { delayMs: 0, lossShare: 0 }
  #isBlackHole = false
  #losesAnswers = false

  constructor(port: number, targetPort: number, random: () => number) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#targetPort = targetPort
    this.#random = random
  }

  get open(): number {
    return this.#links.size
  }

  /** Applies to data sent from now on. */
  degrade(faults: Partial<PathFaults>): void {
    this.#faults = { ...this.#faults, ...faults }
  }

  /** Ends all connections: `reset` like a crash, `end` like an orderly shutdown. Data in flight is lost. */
  cut(how: 'reset' | 'end' = 'reset'): void {
    for (const link of [...this.#links]) link.cut(how)
  }

  /** Silently drops all data. New connections are accepted, and their data is dropped, too. */
  blackHole(): void {
    this.#isBlackHole = true
    for (const link of this.#links) link.swallow()
  }

  /** Commands arrive, and their answers are dropped, also on new connections. */
  loseAnswers(): void {
    this.#losesAnswers = true
    for (const link of this.#links) link.swallowAnswers()
  }

  /** Removes all faults. Connections with dropped data stay silent forever. */
  heal(): void {
    this.#isBlackHole = false
    this.#losesAnswers = false
    this.#faults = { delayMs: 0, lossShare: 0 }
  }

  /** Closes the server's sending side of each connection, which still receives. */
  halfClose(): void {
    for (const link of this.#links) link.halfClose()
  }

  /** Keeps existing connections and refuses new ones. */
  refuse(): void {
    const server = this.#server
    this.#server = undefined
    // close waits for the last connection, but the server stops listening at once
    server?.close()
  }

  /** New connections go to another server, as after a change of address. */
  retarget(port: number): void {
    this.#targetPort = port
  }

  /** Accepts connections again. */
  async accept(): Promise<void> {
    if (this.#server !== undefined) return
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#link(socket))
    this.#server = server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
  }

  async stop(): Promise<void> {
    this.refuse()
    this.cut()
  }

  #link(socket: Socket): void {
    this.connections++
    const link = new ProxyLink(socket, this.#targetPort, {
      faults: () => this.#faults,
      random: this.#random,
      onClose: () => this.#links.delete(link),
    })
    this.#links.add(link)
    if (this.#isBlackHole) link.swallow()
    if (this.#losesAnswers) link.swallowAnswers()
  }
}
