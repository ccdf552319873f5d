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
 * Makes a response check its headers when its head is written, because a handler may have set fields of other limits
 * after ours, such as a proxy that passes on the fields of its upstream.
 */
export function guardHead(res: ServerResponse, shown: Shown): void {
  const { writeHead } = res
  // a test may use another object as the response
  if (typeof writeHead !== 'function') return
  const write = writeHead as (this: ServerResponse, ...args: readonly unknown[]) => ServerResponse
  res.writeHead = function (this: ServerResponse, status: number, reason?: unknown, headers?: unknown): ServerResponse {
    const ours = shown.shownLines ?? NONE
    const passed = (typeof reason === 'object' && reason !== null ? reason : headers) as Passed | undefined
    if (ours.length === 0 || !hasForeign(this, passed, ours) || this.headersSent)
      return write.call(this, status, reason, headers)
    const kept = keepOneSet(this, status, passed, ours)
    return typeof reason === 'string' ? write.call(this, status, reason, kept) : write.call(this, status, kept)
  } as ServerResponse['writeHead']
}

/** Whether a response has fields of other limits. Nearly all responses have none. */
function hasForeign(res: ServerResponse, passed: Passed | undefined, ours: readonly HeaderLine[]): boolean {
  const set = res.getHeaders()
  for (const name in set) {
    if (isLimitField(name) && isForeignField(name, set[name], ours)) return true
  }
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
