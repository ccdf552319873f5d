/** Headers of a request. Structural, because these types are also read in projects without `@types/node`. */
export interface RequestHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Headers of a request and the socket that it came from. */
interface RequestOrigin extends RequestHeaders {
  readonly socket?: { readonly remoteAddress?: string | undefined } | null | undefined
}

const LOOPBACK = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/i
const LOCAL_HOST = /^(?:(?:[\w-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i
/**
 * Names of headers set by proxies: everything with `forwarded`, addresses of clients such as `CF-Connecting-IP` and
 * `X-Azure-ClientIP`, and the ids of requests that hosts add. Behind a proxy on this machine, the client can be anywhere.
 */
const OF_PROXIES =
  /forwarded|^(?:via|cdn-loop)$|(?:client|connecting|connection|external|original|proxyuser|real|remote|socket|user)-?(?:addr(?:ess)?|host|ipv?6?)$|^(?:cf|fastly|fly|rndr|x-(?:amz|amzn|azure|cloud-trace|railway|vercel|envoy))-/

/**
 * Whether a request comes directly from this machine: its socket and its host are loopback addresses, or the host is
 * `localhost` or a subdomain of it, and no proxy forwarded it. Other sites cannot use such a host, which prevents DNS
 * rebinding. Web pages of other sites can send a local request, so check `Origin` too.
 */
export function isLocalRequest({ socket, headers }: RequestOrigin): boolean {
  if (Object.keys(headers).some((name) => OF_PROXIES.test(name))) return false
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
