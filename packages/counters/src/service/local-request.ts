import type { IncomingMessage } from 'node:http'

const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/i
const LOCAL_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i
/** Of a proxy on this machine, whose clients may be anywhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const

/**
 * Whether a request comes from this very machine, by its socket: without a proxy between, and from no web page, which
 * sends an `Origin`, or a `Host` of its own where a name of its site leads here.
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
