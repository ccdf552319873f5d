import type { Backend } from '@sluice/limiter-core'
import type { Address } from '../children/app.ts'
import type { Fleet } from '../fleet.ts'

/** A server on which limits count, and how faults reach it. */
export interface StoreServer {
  readonly port: number
  /** Returns the address for applications. `port` is the one of the server, or of a proxy in front of it. */
  addressAt(port: number): Address
  /** Creates a backend for the test itself, on a client that `stop` closes. */
  backend(): Backend
  /** The server still accepts connections and bytes, and does not answer. */
  pause(): void
  resume(): void
  /** Simulates a crash. Resolves when the server no longer accepts connections. */
  kill(): Promise<void>
  /** Resolves when the server answers, with its counts from before a crash if its kind keeps them. */
  start(): Promise<void>
  /** Number of connections that the server accepted since it started. */
  accepted(): Promise<number>
  /** Number of calls of all backends so far. Default: unknown. */
  calls?(): Promise<number>
  stop(): Promise<void>
}

/** Applications that share one server. */
export interface StoreBench<Server extends StoreServer = StoreServer> {
  readonly fleet: Fleet
  readonly server: Server
}

/** A fault that a server causes itself, such as a lock. */
export interface ServerFault<Server> {
  /** Description, for an error after its code. */
  readonly fault: string
  readonly before?: (server: Server) => Promise<unknown>
  readonly begin: (server: Server) => Promise<unknown>
  readonly end: (server: Server) => Promise<unknown>
  /** Whether writes that it delays are applied when it is over. */
  readonly appliesLate?: boolean
  /** As in `Row`. */
  readonly isVariant?: boolean
}

/** A fault during which the server answers with errors. */
export interface Refusal<Server> extends ServerFault<Server> {
  /** The error code that observers and the log receive. */
  readonly told: string
  /** Whether the server loses its counts. */
  readonly forgets?: boolean
}

/** A kind of server, and the guarantees in which kinds differ. */
export interface StoreKind<Server extends StoreServer> {
  /** Name in descriptions. */
  readonly name: string
  /** Description of `kill` and `start` in faults. */
  readonly crash: readonly [killed: string, started: string]
  /**
   * Counts from before a crash: `kept` by the server, `reported` to it by the processes as far as they knew them, or
   * `lost`, so that each key starts from zero.
   */
  readonly counts: 'kept' | 'reported' | 'lost'
  /** Most connections of an application. */
  readonly connections: number
  /** Requests per second of all applications together. Default: 500. */
  readonly perSecond?: number
  /** Requests per second while connections are cut. Default: as in the other rows. */
  readonly cutPerSecond?: number
  /** Round trips in milliseconds that are short enough for its decisions. All but the first one are variants. */
  readonly nearMs: readonly number[]
  /** Deadline of decisions with such round trips, in milliseconds. */
  readonly nearDeadlineMs: number
  /** Longest time in milliseconds until the server is used again. Default: a second and a deadline. */
  readonly backMs?: number
  /** Longest time in milliseconds until the server is used again after a network that dropped all packets. */
  readonly silentBackMs: number
  readonly start: () => Promise<Server>
  /** The server runs, and does not answer for 2 s. */
  readonly stalls: readonly ServerFault<Server>[]
  readonly refusals: readonly Refusal<Server>[]
}
