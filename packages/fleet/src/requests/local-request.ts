import type { IncomingMessage } from 'node:http'

type RequestHeaders = Pick<IncomingMessage, 'headers'>

const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/i
const LOCAL_HOST = /^(?:(?:[\w-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i
/** Headers set by proxies. Behind a proxy on this machine, the client can be anywhere. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * Whether a request comes directly from this machine: its socket and its host are loopback addresses, or the host is
 * `localhost` or a subdomain of it, and no proxy forwarded it. Other sites cannot use such a host, which prevents DNS
 * rebinding. Web pages of other sites can send a local request, so check `Origin` too.
 */
export function isLocalRequest({ socket, headers }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false
  return LOOPBACK.test(socket?.remoteAddress ?? '') && LOCAL_HOST.test(hostOf({ headers }) ?? '')
}

/**
 * Returns the host and port that a request names: `:authority` over HTTP/2, otherwise `Host`. Returns undefined if both
 * exist and differ, because such a request is malformed (RFC 9113, section 8.3.1).
 */
export function hostOf({ headers }: RequestHeaders): string | undefined {
  const { host, ':authority': authority = host } = headers
  return typeof authority === 'string' && (host ?? authority) === authority ? authority : undefined
}
