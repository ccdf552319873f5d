import type { ServerResponse } from 'node:http'
import { type HeaderLine, isForeignField, isLimitField, limitFieldChanges } from '@sluice/http'

/** A request whose limits have header lines. */
interface Shown {
  readonly shownLines?: readonly HeaderLine[]
}

/** Headers that a handler passes to `writeHead`: an object, names and values in turn, or pairs of a name and a value. */
type Passed = Readonly<Record<string, unknown>> | readonly unknown[]

type Pair = readonly [name: string, value: unknown]

const NONE: readonly never[] = []

/**
 * Keeps fields of other limits out of a response with fields of ours: a handler may set them after ours, such as a proxy
 * that passes on the fields of its upstream. Two functions of the response are replaced. Reading all headers of every
 * response when its head is written would take twice as long.
 */
export function guardHead(res: ServerResponse, shown: Shown, isHttp2: boolean): void {
  const { writeHead, setHeader } = res
  // a test may use another object as the response
  if (typeof writeHead !== 'function') return
  const set = setHeader as (this: ServerResponse, name: string, value: unknown) => ServerResponse
  const write = writeHead as (this: ServerResponse, ...args: readonly unknown[]) => ServerResponse
  // HTTP/2 appends a header without `setHeader`
  let mayBeMixed = isHttp2 || res.getHeaderNames().some(isLimitField)
  // `assign`, because V8 takes 0.2 µs longer for each assignment to a response of Express
  Object.assign(res, {
    setHeader(this: ServerResponse, name: string, value: unknown): ServerResponse {
      if (!mayBeMixed && typeof name === 'string' && isLimitField(name) && !isDraftField(name)) mayBeMixed = true
      return set.call(this, name, value)
    },
    writeHead(this: ServerResponse, status: number, reason?: unknown, headers?: unknown): ServerResponse {
      const ours = shown.shownLines ?? NONE
      const passed = (typeof reason === 'object' && reason !== null ? reason : headers) as Passed | undefined
      const isMixed = mayBeMixed ? hasForeign(this, ours) : hasOtherValue(this, ours)
      if (ours.length === 0 || !(isMixed || passesForeign(passed, ours)) || this.headersSent)
        return write.call(this, status, reason, headers)
      const kept = keepOneSet(this, status, passed, ours)
      return typeof reason === 'string' ? write.call(this, status, reason, kept) : write.call(this, status, kept)
    },
  })
}

/** Whether a field is one of ours, unless its value has been replaced. Spelled as in `headerLines`. */
function isDraftField(name: string): boolean {
  return name === 'RateLimit' || name === 'RateLimit-Policy'
}

/** Whether a field of ours has another value: it was replaced, or another value was appended. */
function hasOtherValue(res: ServerResponse, ours: readonly HeaderLine[]): boolean {
  for (const [name, value] of ours) {
    const set = res.getHeader(name)
    if (set !== undefined && set !== value) return true
  }
  return false
}

/** Whether a response has fields of other limits. */
function hasForeign(res: ServerResponse, ours: readonly HeaderLine[]): boolean {
  return Object.entries(res.getHeaders()).some(([name, value]) => isForeignField(name, value, ours))
}

/** Whether the headers that a handler passes to `writeHead` contain fields of other limits. */
function passesForeign(passed: Passed | undefined, ours: readonly HeaderLine[]): boolean {
  if (Array.isArray(passed)) return pairsOf(passed).some(([name, value]) => isForeignField(name, value, ours))
  for (const name in passed as Record<string, unknown>) {
    if (isForeignField(name, (passed as Record<string, unknown>)[name], ours)) return true
  }
  return false
}

/** Leaves the limit fields of one server in a response. Returns the headers to pass to `writeHead`. */
function keepOneSet(
  res: ServerResponse,
  status: number,
  passed: Passed | undefined,
  ours: readonly HeaderLine[],
): Passed | undefined {
  const given = passed ? pairsOf(passed) : []
  const values = new Map(given.map(([name, value]) => [name.toLowerCase(), value]))
  const names = [...new Set([...res.getHeaderNames(), ...values.keys()])]
  const changes = limitFieldChanges(status, names, (name) => values.get(name) ?? res.getHeader(name), ours)
  const removed = changes?.removed ?? []
  for (const name of removed) res.removeHeader(name)
  for (const [name, value] of changes?.added ?? []) res.setHeader(name, value)
  const kept = given.filter(([name]) => !removed.includes(name.toLowerCase()))
  return Array.isArray(passed) ? kept.flat() : Object.fromEntries(kept)
}

function pairsOf(passed: Passed): readonly Pair[] {
  if (!Array.isArray(passed)) return Object.entries(passed)
  if (Array.isArray(passed[0])) return passed
  return passed.flatMap((name, index): Pair[] => (index % 2 === 0 ? [[name, passed[index + 1]]] : []))
}
