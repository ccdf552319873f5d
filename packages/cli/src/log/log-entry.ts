import type { AttributeValue } from '@sluice/policies'

/** A request that a log line describes. */
export interface LogEntry {
  /** Time of the line, in epoch milliseconds. */
  readonly timeMs: number
  /**
   * Returns a field of the line: `address` (as written), `method`, `path` (without the query), `status`, `bytes`,
   * `referer`, `user_agent`, `principal`, `header:<name>`, or another field by its name in the log. Returns undefined if
   * the line does not have it.
   */
  field(name: string): AttributeValue | undefined
}

/** The request line of HTTP: method and target. */
export class RequestLine {
  readonly method: string | undefined
  readonly path: string | undefined

  // a class: V8 creates objects of a literal in the old generation if many survived once, and each keeps its chunk
  constructor(method?: string, path?: string) {
    this.method = method
    this.path = path
  }
}

const NO_REQUEST = new RequestLine()
const METHOD = /^[A-Za-z_-]{1,32}$/
/** Methods of RFC 9110 and RFC 5789, which need no check. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
/** Scheme and authority in front of the path, as clients of proxies send them. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
const SLASH = 47

/** Returns the parts of `GET /path?query HTTP/1.1`; no parts if the client sent no valid request line. */
export function requestLineOf(text: string): RequestLine {
  const space = text.indexOf(' ')
  if (space <= 0) return NO_REQUEST
  const method = text.slice(0, space)
  if (!METHODS.has(method) && !METHOD.test(method)) return NO_REQUEST
  // a path may contain spaces in a log, because some servers write it decoded
  const version = text.lastIndexOf(' HTTP/')
  return new RequestLine(method, pathOf(text.slice(space + 1, version > space ? version : undefined)))
}

/** Returns the path of a request target, without origin and query. */
export function pathOf(target: string): string {
  const local = target.charCodeAt(0) === SLASH ? target : target.replace(ORIGIN, '')
  const path = before(before(local, '?'), '#')
  return path === '' ? '/' : path
}

function before(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at < 0 ? text : text.slice(0, at)
}
