import type { Backend } from '@sluice/limiter-core'
import { ClusterServer, type Port, workerBackend } from '@sluice/limiter-core/cluster'
import type { LeaseTerms } from '@sluice/limiter-core/leases'
import type { FakeClock } from '@sluice/testkit'

/** A primary and a way to it that carries messages as `node:cluster` does: as JSON, in order, a turn later. */
export class PairedPrimary {
  readonly desk: ClusterServer
  /** Messages that arrive while it is false are lost, as those are that nobody listens to. */
  listening = true
  readonly #ports = new Set<PairedPort>()
  readonly #terms: LeaseTerms
  readonly #clock: FakeClock

  constructor(terms: LeaseTerms, clock: FakeClock) {
    this.desk = new ClusterServer(terms, undefined, clock)
    this.#terms = terms
    this.#clock = clock
  }

  /** A backend of a worker: of one of its own, unless it shares the channel of another. */
  worker(port: Port = this.port()): Backend {
    return workerBackend(port, this.#terms, this.#clock)
  }

  /** The channel of one worker. */
  port(): Port {
    const port = new PairedPort(this)
    this.#ports.add(port)
    return port
  }

  /** The primary is gone. */
  die(): void {
    this.listening = false
    for (const port of this.#ports) port.lose()
  }

  /** What the application says to its workers on the same channel. */
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
      const reply = this.#primary.listening ? this.#primary.desk.answer(JSON.parse(text)) : undefined
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
