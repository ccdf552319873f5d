import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { isPromise, type MaybePromise, messageOf, warnOnce } from '@sluice/limiter-core/http'
import { nextTick } from '../connect/next-tick.ts'
import { WaitingConnection } from './waiting-connection.ts'

/** A server of `node:net` or of what is made of it. */
export type ConnectionServer = Pick<EventEmitter, 'on' | 'off' | 'emit'>

/** Whether a connection may be served. Must not throw nor reject, and must answer within a bound. */
export type ConnectionGate = (socket: Socket) => MaybePromise<boolean>

// registered: an ESM and a CommonJS copy may meet on one server
const GATES = Symbol.for('sluice.connectionGates@1')

/**
 * What is asked of each connection of a server before its listeners are told of it. Those of TLS and HTTP take a socket
 * over at once, whoever listens beside them, so that `connection` itself waits: nothing is read, said or negotiated until
 * every gate has answered. They are asked one after the other, the first that was added first.
 */
export class ConnectionGates {
  readonly #server: ConnectionServer
  readonly #emit: EventEmitter['emit']
  readonly #hadOwnEmit: boolean
  readonly #gated: EventEmitter['emit']
  #gates: readonly ConnectionGate[] = []

  /** The gates of a server; made when first asked for. */
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

  /** Returns a function that takes the gate away. */
  add(gate: ConnectionGate): () => void {
    this.#gates = [...this.#gates, gate]
    return () => {
      this.#gates = this.#gates.filter((other) => other !== gate)
      if (this.#gates.length === 0) this.#leave()
    }
  }

  /** Leaves the server as it was, unless somebody else has put something over it. */
  #leave(): void {
    if (this.#server.emit !== this.#gated) return
    if (this.#hadOwnEmit) this.#server.emit = this.#emit
    else Reflect.deleteProperty(this.#server, 'emit')
    Reflect.deleteProperty(this.#server, GATES)
  }

  #onConnection(args: unknown[]): boolean {
    const socket = args[0] as Socket
    const passes = this.#ask(this.#gates, socket)
    if (!isPromise(passes)) return passes ? this.#emitConnection(args) : refuse(socket)
    const waiting = new WaitingConnection(socket)
    // outside of the promise, so that what listeners throw rejects nothing
    passes.then((passed) => nextTick(() => this.#decided(waiting, args, passed)))
    return true
  }

  /** Every gate in turn, at once as long as each of them answers at once. */
  #ask(gates: readonly ConnectionGate[], socket: Socket): MaybePromise<boolean> {
    for (const [index, gate] of gates.entries()) {
      const passes = gate(socket)
      if (isPromise(passes)) {
        return passes.then((passed) => passed && !socket.destroyed && this.#ask(gates.slice(index + 1), socket))
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
      // Node, too, would have had nobody to tell but the process
      warnOnce('SLUICE_HOOK_FAILED', () => `a listener to connections threw: ${messageOf(error)}`, 'connection')
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
