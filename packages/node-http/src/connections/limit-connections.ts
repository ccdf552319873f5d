import type { Socket } from 'node:net'
import {
  type CapCheck,
  InflightGate,
  type InflightLimitOptions,
  type LimiterReport,
  onCarrierClose,
  releasePermit,
} from '@sluice/http'
import type { InflightLimiter } from '@sluice/limiter-core'
import {
  clockOf,
  DEFAULT_NAMES,
  Deadlines,
  isPromise,
  kindOf,
  optionsOf,
  type RequestView,
  SluiceError,
} from '@sluice/limiter-core/http'
import { ConnectionGates, type ConnectionServer } from './connection-gates.ts'

/** Options of `limitConnections`. */
export interface ConnectionLimitOptions
  extends Pick<
    InflightLimitOptions<Socket, never>,
    'limit' | 'key' | 'weight' | 'backend' | 'shared' | 'skip' | 'mode' | 'observers' | 'clock'
  > {
  /** Default: `connections`. */
  readonly name?: string | undefined
}

/** A cap on connections. */
export interface ConnectionLimit {
  /** The underlying cap, to count open connections of a key or of the whole process. */
  readonly limiter: InflightLimiter
  /** Stops limiting new connections. Open connections stay counted until they close. */
  close(): void
}

const OPTIONS = ['limit', 'name', 'key', 'weight', 'backend', 'shared', 'skip', 'mode', 'observers', 'clock'] as const

/** Maximum time that a connection waits for an asynchronous decision. */
const DECISION_TIMEOUT_MS = 5_000
const TOO_LATE = `a connection was closed because its key, skip or backend took more than ${DECISION_TIMEOUT_MS} ms`

/**
 * Caps the TCP connections of a `node:net`, `tls`, `http`, `https` or `http2` server: in total, or with `key: byIp()`
 * for each client address. Connections above the limit are closed without a response, before TLS or HTTP receives a
 * byte. A connection waits for an asynchronous decision, and is closed if it takes more than five seconds. Several caps
 * of one server are checked in the order of their registration. Throws coded errors for invalid options.
 */
export function limitConnections(server: ConnectionServer, options: ConnectionLimitOptions): ConnectionLimit {
  if (typeof server?.on !== 'function' || typeof server.off !== 'function' || typeof server.emit !== 'function') {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `limitConnections: server: expected a net.Server, received ${kindOf(server)}`,
    )
  }
  const { name = DEFAULT_NAMES.limitConnections, ...rest } = optionsOf('limitConnections', options, OPTIONS)
  const gate = new InflightGate<Socket, never>({ name, ...rest })
  const deadlines = new Deadlines(clockOf(options.clock), DECISION_TIMEOUT_MS)
  const leave = ConnectionGates.of(server).add((socket) => {
    const check = gate.check(viewOf(socket))
    return isPromise(check) ? inTime(check, socket, deadlines, gate.report) : admit(socket, check)
  })
  const close = (): void => {
    leave()
    void gate.limiter.close()
  }
  return { limiter: gate.limiter, close }
}

/** Waits for a decision. After the deadline the connection is closed, and a late permit is released at once. */
function inTime(
  check: Promise<CapCheck | undefined>,
  socket: Socket,
  deadlines: Deadlines,
  report: LimiterReport,
): Promise<boolean> {
  const refused = (): boolean => {
    report.warnOnce('SLUICE_BACKEND_FAILED', () => TOO_LATE, 'late')
    socket.destroy()
    return false
  }
  const admitted = check.then((check) => admit(socket, check))
  return deadlines.race(admitted, { answered: (passes) => passes, failed: refused, late: refused })
}

/** Returns whether the connection may be served. Its permit is released when the socket closes, or now if it has. */
function admit(socket: Socket, check: CapCheck | undefined): boolean {
  if (!check) return !socket.destroyed
  if (!check.permit) return false
  if (socket.destroyed) releasePermit(check, 'dropped')
  else onCarrierClose(socket, () => releasePermit(check, socket.errored ? 'dropped' : 'success'))
  return !socket.destroyed
}

/** Presents a connection to the cap. It has an address, but no headers and no route. */
function viewOf(raw: Socket): RequestView<Socket> {
  return { raw, ip: raw.remoteAddress, method: 'CONNECT', route: undefined, header: () => undefined }
}
