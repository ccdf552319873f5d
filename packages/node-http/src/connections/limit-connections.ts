import type { Socket } from 'node:net'
import type { InflightLimiter } from '@sluice/limiter-core'
import {
  type CapCheck,
  clockOf,
  DEFAULT_NAMES,
  Deadlines,
  InflightGate,
  type InflightLimitOptions,
  isPromise,
  kindOf,
  type LimiterReport,
  optionsOf,
  type RequestView,
  SluiceError,
} from '@sluice/limiter-core/http'
import { releasePermit } from '../lifecycle/release-permit.ts'
import { onCarrierClose } from '../lifecycle/response-end.ts'
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
  /** The cap behind it: to count open connections, of a key or of the whole process. */
  readonly limiter: InflightLimiter
  /** Lets new connections pass. Those that are open are counted until they close. */
  close(): void
}

const OPTIONS = ['limit', 'name', 'key', 'weight', 'backend', 'shared', 'skip', 'mode', 'observers', 'clock'] as const

/** Milliseconds that a connection waits for an answer that comes later. */
const WAITS_MS = 5_000
const TOO_LATE = `a connection was closed: nobody said within ${WAITS_MS} ms whether it has a place`

/**
 * Caps the TCP connections of a server of `node:net`, `tls`, `http`, `https` or `http2`: of the process, or with
 * `key: byIp()` of each client address. One too many is closed without a word, before TLS and HTTP see a byte of it.
 * Where the answer comes later the connection waits for it, five seconds at most; of several the first one is asked
 * first. Throws coded errors for bad options.
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
  const deadlines = new Deadlines(clockOf(options.clock), WAITS_MS)
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

/** What comes too late changes nothing: the connection is closed by then, and its place goes straight back. */
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

/** Whether it may be served. The permit comes back when the socket closes, at once where it has. */
function admit(socket: Socket, check: CapCheck | undefined): boolean {
  if (!check) return !socket.destroyed
  if (!check.permit) return false
  if (socket.destroyed) releasePermit(check, 'dropped')
  else onCarrierClose(socket, () => releasePermit(check, socket.errored ? 'dropped' : 'success'))
  return !socket.destroyed
}

/** A connection has an address, and nothing yet that a request has. */
function viewOf(raw: Socket): RequestView<Socket> {
  return { raw, ip: raw.remoteAddress, method: 'CONNECT', route: undefined, header: () => undefined }
}
