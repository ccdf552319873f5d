import type { AttributeValue } from '@sluice/policies'
import { AccessTime, epochMsOf } from './access-time.ts'
import { type LogEntry, pathOf, type RequestLine, requestLineOf } from './log-entry.ts'

type JsonObject = Readonly<Record<string, unknown>>

const TIMES = ['time', 'timestamp', '@timestamp', 'ts', 'time_iso8601', 'time_local', 'msec', 'date', 'StartUTC']
/** Names of fields in the logs of nginx, Apache, Caddy, Traefik, Envoy and pino. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  address: ['address', 'remote_addr', 'remote_ip', 'client_ip', 'remoteAddress', 'clientip', 'ip', 'ClientHost'],
  method: ['method', 'request_method', 'verb', 'RequestMethod'],
  path: ['path', 'request_uri', 'uri', 'url', 'RequestPath', 'target'],
  status: ['status', 'status_code', 'statusCode', 'response_code', 'DownstreamStatus'],
  bytes: ['bytes', 'body_bytes_sent', 'bytes_sent', 'size', 'DownstreamContentSize'],
  referer: ['referer', 'http_referer', 'referrer'],
  user_agent: ['user_agent', 'http_user_agent', 'userAgent', 'agent'],
  principal: ['principal', 'remote_user', 'user', 'user_id', 'ClientUsername'],
}
/** Objects in a line that describe the request and the response. */
const PARTS = ['request', 'req', 'response', 'res']
const HEADER = 'header:'
const HEADER_OF: Readonly<Record<string, string>> = { referer: 'referer', user_agent: 'user-agent' }

/** Parses lines that are JSON objects. */
export class JsonLines {
  readonly #clock = new AccessTime()
  /** Name of the time in the last line: most logs have one name for it. */
  #timeName = TIMES[0]

  /** Returns the request of a line; a text that says what is wrong if the line is not an object with a time. */
  parse(line: string): LogEntry | string {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return 'expected valid JSON'
    }
    if (!isObject(value)) return 'expected a JSON object'
    const timeMs = this.#timeOf(value)
    return Number.isNaN(timeMs) ? `expected a time as one of ${TIMES.join(', ')}` : new JsonEntry(timeMs, value)
  }

  #timeOf(line: JsonObject): number {
    if (!Object.hasOwn(line, this.#timeName)) {
      const name = TIMES.find((one) => Object.hasOwn(line, one))
      if (name === undefined) return Number.NaN
      this.#timeName = name
    }
    return epochMsOf(line[this.#timeName], this.#clock)
  }
}

class JsonEntry implements LogEntry {
  readonly timeMs: number
  readonly #line: JsonObject

  constructor(timeMs: number, line: JsonObject) {
    this.timeMs = timeMs
    this.#line = line
  }

  field(name: string): AttributeValue | undefined {
    if (name.startsWith(HEADER)) return this.#header(name.slice(HEADER.length))
    const value = this.#named(name)
    if (name === 'path') return typeof value === 'string' ? pathOf(value) : this.#requestLine().path
    if (name === 'method') return value ?? this.#requestLine().method
    return value ?? (Object.hasOwn(HEADER_OF, name) ? this.#header(HEADER_OF[name]) : undefined)
  }

  #named(name: string): AttributeValue | undefined {
    const names = Object.hasOwn(NAMES, name) ? NAMES[name] : [name]
    const own = firstOf(this.#line, names)
    if (own !== undefined) return own
    for (const part of PARTS) {
      const inner = this.#line[part]
      const value = isObject(inner) ? firstOf(inner, names) : undefined
      if (value !== undefined) return value
    }
    return comparable(nested(this.#line, name))
  }

  #header(name: string): AttributeValue | undefined {
    const variable = `http_${name.replaceAll('-', '_')}`
    if (Object.hasOwn(this.#line, variable)) return comparable(this.#line[variable])
    for (const part of [this.#line, this.#line.request, this.#line.req]) {
      const value = isObject(part) ? headerOf(part.headers, name) : undefined
      if (value !== undefined) return comparable(Array.isArray(value) ? value[0] : value)
    }
    return undefined
  }

  #requestLine(): RequestLine {
    const { request } = this.#line
    return requestLineOf(typeof request === 'string' ? request : '')
  }
}

function firstOf(object: JsonObject, names: readonly string[]): AttributeValue | undefined {
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? comparable(object[name]) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

/** Returns the value of a header whose name is written in any case. */
function headerOf(headers: unknown, name: string): unknown {
  if (!isObject(headers)) return undefined
  const spelled = Object.keys(headers).find((one) => one.toLowerCase() === name)
  return spelled === undefined ? undefined : headers[spelled]
}

/** Returns the value of a path such as `user.id`. */
function nested(line: JsonObject, path: string): unknown {
  if (!path.includes('.')) return undefined
  let value: unknown = line
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Returns the value if it can be compared; undefined for objects, null, and texts that stand for no value. */
function comparable(value: unknown): AttributeValue | undefined {
  if (typeof value === 'string') return value === '' || value === '-' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
