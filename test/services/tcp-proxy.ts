import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { PathFaults } from './delayed-bytes.ts'
import { onFreePorts } from './free-port.ts'
import { ProxyLink } from './proxy-link.ts'

export interface TcpProxyOptions {
  /** Numbers from 0 to below 1 by which losses fall. Default: `Math.random`. */
  readonly random?: () => number
}

/** A port of the loopback that stands for a server elsewhere. */
export function startProxy(targetPort: number, { random = Math.random }: TcpProxyOptions = {}): Promise<TcpProxy> {
  return onFreePorts(async (port) => {
    const proxy = new TcpProxy(port, targetPort, random)
    await proxy.accept()
    return proxy
  })
}

/** Made by `startProxy`. */
export class TcpProxy {
  readonly port: number
  readonly url: string
  /** How many connections it has accepted. */
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

  /** For what is sent from now on. */
  degrade(faults: Partial<PathFaults>): void {
    this.#faults = { ...this.#faults, ...faults }
  }

  /** Ends all connections: `reset` as a crash does, `end` as an orderly server. What was under way is lost. */
  cut(how: 'reset' | 'end' = 'reset'): void {
    for (const link of [...this.#links]) link.cut(how)
  }

  /** Swallows all that is sent, in silence. New connections are accepted, and as silent. */
  blackHole(): void {
    this.#isBlackHole = true
    for (const link of this.#links) link.swallow()
  }

  /** Commands arrive, and their answers are swallowed; those of new connections, too. */
  loseAnswers(): void {
    this.#losesAnswers = true
    for (const link of this.#links) link.swallowAnswers()
  }

  /** The path is as good as new. Connections of which something was swallowed stay silent for ever. */
  heal(): void {
    this.#isBlackHole = false
    this.#losesAnswers = false
    this.#faults = { delayMs: 0, lossShare: 0 }
  }

  /** The server's side of each connection says that it has sent all, and goes on reading. */
  halfClose(): void {
    for (const link of this.#links) link.halfClose()
  }

  /** Connections that are there stay; new ones are refused. */
  refuse(): void {
    const server = this.#server
    this.#server = undefined
    // it is closed only when its last connection is, but listens no more at once
    server?.close()
  }

  /** New connections lead to another server, as an address that moves. */
  retarget(port: number): void {
    this.#targetPort = port
  }

  /** Accepts again. */
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
