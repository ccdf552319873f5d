import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import {
  type CapCheck,
  CapGuard,
  type InflightLimiter,
  type InflightLimitOptions,
  isPromise,
  kindOf,
  optionsOf,
  type RequestView,
  SluiceError,
} from '@sluice/limiter-core'
import { releasePermit } from './release-permit.ts'
import { onCarrierClose } from './response-end.ts'

/** Options of `limitConnections`. */
export interface ConnectionLimitOptions
  extends Pick<
    InflightLimitOptions<Socket, never>,
    'limit' | 'key' | 'weight' | 'backend' | 'skip' | 'mode' | 'observers' | 'clock'
  > {
  /** `connections` unless said. */
  readonly name?: string | undefined
}

/** A cap on connections. */
export interface ConnectionLimit {
  /** The cap behind it: to count open connections, of a key or of the whole process. */
  readonly limiter: InflightLimiter
  /** Lets new connections pass. Those that are open are counted until they close. */
  close(): void
}

const OPTIONS = ['limit', 'name', 'key', 'weight', 'backend', 'skip', 'mode', 'observers', 'clock'] as const

/**
 * Caps the TCP connections of a server of `node:net`, `tls`, `http`, `https` or `http2`: of the process, or with
 * `key: byIp()` of each client address. One too many is closed without a word, before TLS and HTTP see a byte of it.
 * Throws coded errors for bad options.
 */
export function limitConnections(
  server: Pick<EventEmitter, 'on' | 'off'>,
  options: ConnectionLimitOptions,
): ConnectionLimit {
  if (typeof server?.on !== 'function' || typeof server.off !== 'function') {
    throw new SluiceError('SLUICE_BAD_OPTION', `limitConnections: server: got ${kindOf(server)}, expected a net.Server`)
  }
  const { name = 'connections', ...rest } = optionsOf('limitConnections', options, OPTIONS)
  const guard = new CapGuard<Socket, never>({ name, ...rest })
  const connected = (socket: Socket): void => {
    // another cap was first
    if (socket.destroyed) return
    const check = guard.check(viewOf(socket))
    if (isPromise(check)) check.then((come) => admit(socket, come))
    else admit(socket, check)
  }
  server.on('connection', connected)
  return {
    limiter: guard.limiter,
    close: () => {
      server.off('connection', connected)
    },
  }
}

/** The permit comes back when the socket closes, at once where it has. */
function admit(socket: Socket, check: CapCheck | undefined): void {
  if (!check) return
  if (!check.permit) socket.destroy()
  else if (socket.destroyed) releasePermit(check.permit, 'dropped')
  else onCarrierClose(socket, () => releasePermit(check.permit, socket.errored ? 'dropped' : 'success'))
}

/** A connection has an address, and nothing yet that a request has. */
function viewOf(raw: Socket): RequestView<Socket> {
  return { raw, ip: raw.remoteAddress, method: 'CONNECT', route: undefined, header: () => undefined }
}
