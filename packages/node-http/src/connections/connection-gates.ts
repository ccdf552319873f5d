import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { isPromise, type MaybePromise, messageOf, warnOnce } from '@sluice/limiter-core/http'
import { nextTick } from '../connect/next-tick.ts'
import { WaitingConnection } from './waiting-connection.ts'

/** A `node:net` server, or a server that is built on one: TLS, HTTP, HTTPS or HTTP/2. */
export type ConnectionServer = Pick<EventEmitter, 'on' | 'off' | 'emit'>

/** Returns whether a connection may be served. Must not throw or reject, and must settle within a bounded time. */
export type ConnectionGate = (socket: Socket) => MaybePromise<boolean>

// Symbol.for: an ESM and a CommonJS copy of this package may use the same server
const GATES = Symbol.for('sluice.connectionGates@1')

/**
 * Checks each connection of a server before its `connection` listeners run. The listeners of TLS and HTTP take over a
 * socket at once, so the `connection` event itself is held back: nothing is read, written or negotiated until every
 * gate has decided. Gates are checked one after the other, in the order in which they were added.
 */
export class ConnectionGates {
  readonly #server: ConnectionServer
  readonly #emit: EventEmitter['emit']
  readonly #hadOwnEmit: boolean
  readonly #gated: EventEmitter['emit']
  #gates: readonly ConnectionGate[] = []

  /** Returns the gates of a server; the first call creates them. */
  static of(server: ConnectionServer): ConnectionGates {
    const home = server as ConnectionServer & { [GATES]?: ConnectionGates | undefined }
    home[GATES] ??= new ConnectionGates(server)
    return home[GATES]
  }

  private constructor(server: ConnectionServer) {
    const gates = this
    const { emit } = server
    this.#server = server
    this.#emit = emit
    this.#hadOwnEmit = Object.hasOwn(server, 'emit')
    this.#gated = function (this: EventEmitter, event, ...args): boolean {
      if (event !== 'connection' || gates.#gates.length === 0) return emit.call(this, event, ...args)
      return gates.#onConnection(args)
    }
    server.emit = this.#gated
  }

  /** Adds a gate. Returns a function that removes it. */
  add(gate: ConnectionGate): () => void {
    this.#gates = [...this.#gates, gate]
    return () => {
      this.#gates = this.#gates.filter((other) => other !== gate)
      if (this.#gates.length === 0) this.#restore()
    }
  }

  /** Restores the original `emit` of the server, unless other code has replaced it since. */
  #restore(): void {
    if (this.#server.emit !== this.#gated) return
    if (this.#hadOwnEmit) this.#server.emit = this.#emit
    else Reflect.deleteProperty(this.#server, 'emit')
    Reflect.deleteProperty(this.#server, GATES)
  }

  #onConnection(args: unknown[]): boolean {
    const socket = args[0] as Socket
    const passes = this.#check(this.#gates, socket)
    if (!isPromise(passes)) return passes ? this.#emitConnection(args) : refuse(socket)
    const waiting = new WaitingConnection(socket)
    // outside of the promise, so that an error of a listener does not reject it
    passes.then((passed) => nextTick(() => this.#decided(waiting, args, passed)))
    return true
  }

  /** Checks the gates in turn. Returns a promise only if a gate does. */
  #check(gates: readonly ConnectionGate[], socket: Socket): MaybePromise<boolean> {
    for (const [index, gate] of gates.entries()) {
      const passes = gate(socket)
      if (isPromise(passes)) {
        return passes.then((passed) => passed && !socket.destroyed && this.#check(gates.slice(index + 1), socket))
      }
      if (!passes) return false
    }
    return true
  }

  #decided(waiting: WaitingConnection, args: unknown[], passes: boolean): void {
    const socket = args[0] as Socket
    if (!passes) refuse(socket)
    if (!waiting.done()) return
    try {
      this.#emitConnection(args)
    } catch (error) {
      // this runs in a later tick, where no caller can catch the error
      warnOnce(
        'SLUICE_HOOK_FAILED',
        () => `a connection listener threw, and the connection is closed: ${messageOf(error)}`,
        'connection',
      )
      refuse(socket)
    }
  }

  #emitConnection(args: unknown[]): boolean {
    return this.#emit.call(this.#server as EventEmitter, 'connection', ...args)
  }
}

function refuse(socket: Socket): true {
  socket.destroy()
  return true
}
