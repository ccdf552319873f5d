import { ClusterServer, type Port, workerBackend } from '@sluice/fleet'
import type { LeaseTerms } from '@sluice/fleet/leases'
import type { Backend } from '@sluice/limiter-core'
import type { FakeClock } from '@sluice/testkit'

/** A primary and channels to it that carry messages the way `node:cluster` does: as JSON, in order, one turn later. */
export class PairedPrimary {
  readonly desk: ClusterServer
  /** While false, messages that arrive are lost, as if no listener were attached. */
  listening = true
  readonly #ports = new Set<PairedPort>()
  readonly #terms: LeaseTerms
  readonly #clock: FakeClock

  constructor(terms: LeaseTerms, clock: FakeClock) {
    this.desk = new ClusterServer(terms, undefined, clock)
    this.#terms = terms
    this.#clock = clock
  }

  /**
   * Creates the backend of a worker. Each backend has its own worker, unless `port` shares the channel of another one.
   */
  worker(port: Port = this.port()): Backend {
    return workerBackend(port, this.#terms, this.#clock)
  }

  /** The channel of one worker. */
  port(): Port {
    const port = new PairedPort(this)
    this.#ports.add(port)
    return port
  }

  /** Simulates the exit of the primary. */
  die(): void {
    this.listening = false
    for (const port of this.#ports) port.lose()
  }

  /** Sends an application message to the workers on the same channel. */
  say(message: unknown): void {
    for (const port of this.#ports) port.deliver(message)
  }
}

class PairedPort implements Port {
  connected = true
  readonly #primary: PairedPrimary
  readonly #heard = new Set<(message: unknown) => void>()
  readonly #lost = new Set<() => void>()

  constructor(primary: PairedPrimary) {
    this.#primary = primary
  }

  send(message: object, failed: () => void): void {
    const text = JSON.stringify(message)
    setImmediate(() => {
      if (!this.connected) {
        failed()
        return
      }
      const reply = this.#primary.listening ? this.#primary.desk.handle(JSON.parse(text)) : undefined
      if (reply) this.deliver(JSON.parse(JSON.stringify(reply)))
    })
  }

  listen(message: (message: unknown) => void, lost: () => void): () => void {
    this.#heard.add(message)
    this.#lost.add(lost)
    return () => {
      this.#heard.delete(message)
      this.#lost.delete(lost)
    }
  }

  deliver(message: unknown): void {
    setImmediate(() => {
      for (const heard of this.#heard) heard(message)
    })
  }

  lose(): void {
    this.connected = false
    for (const lost of this.#lost) lost()
  }
}
