import type { IncomingMessage } from 'node:http'

const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/i
const LOCAL_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i
/** Headers of a proxy. A proxy on this machine may have clients anywhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const

/**
 * Whether a request comes directly from this machine, by its socket address. Excludes requests that a proxy forwarded,
 * and requests of web pages: these send an `Origin`, or a foreign `Host` if the name of their site resolves to this
 * machine.
 */
export function isLocalRequest({ socket, headers }: IncomingMessage): boolean {
  const host = headers.host ?? headers[':authority']
  return (
    LOOPBACK.test(socket?.remoteAddress ?? '') &&
    typeof host === 'string' &&
    LOCAL_HOST.test(host) &&
    headers.origin === undefined &&
    FORWARDED.every((name) => headers[name] === undefined)
  )
}
