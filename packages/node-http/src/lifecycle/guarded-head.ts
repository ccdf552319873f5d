import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HeaderLine, isForeignField, isLimitField, limitFieldChanges } from '@sluice/http'
import { lifeOf } from './life-of.ts'

/** A request whose limits have header lines. */
interface Shown {
  readonly shownLines?: readonly HeaderLine[]
}

/** Headers that a handler passes to `writeHead`: an object, names and values in turn, or pairs of a name and a value. */
type Passed = Readonly<Record<string, unknown>> | readonly unknown[]

type Pair = readonly [name: string, value: unknown]

const NONE: readonly never[] = []

/** The prototype of responses that was changed last: nearly always that of the only application. */
let prepared: object | undefined

/**
 * Makes a response check its headers when its head is written, because a handler may have set fields of other limits
 * after ours, such as a proxy that passes on the fields of its upstream. V8 before version 12 takes 3 µs to add a
 * property to a response of Express, so an Express application checks all its responses.
 */
export function guardHead(res: ServerResponse, shown: Shown): void {
  const application = applicationPrototype(Object.getPrototypeOf(res))
  if (!application) guard(res, () => shown)
  else if (application !== prepared) {
    prepared = application
    if (!Object.hasOwn(application, 'writeHead')) guard(application, lifeOf as (req: IncomingMessage) => Shown)
  }
}

/** Returns the prototype of the responses of an Express application; of the outer one, if applications are mounted. */
function applicationPrototype(responses: object): ServerResponse | undefined {
  // Express extends the prototype of its responses by `app`
  if (!Object.hasOwn(responses, 'app') || !Object.isExtensible(responses)) return undefined
  return applicationPrototype(Object.getPrototypeOf(responses)) ?? (responses as ServerResponse)
}

function guard(target: ServerResponse, shownOf: (req: IncomingMessage) => Shown | undefined): void {
  const { writeHead } = target
  // a test may use another object as the response
  if (typeof writeHead !== 'function') return
  const write = writeHead as (this: ServerResponse, ...args: readonly unknown[]) => ServerResponse
  function checked(this: ServerResponse, status: number, reason?: unknown, headers?: unknown): ServerResponse {
    const ours = shownOf(this.req)?.shownLines ?? NONE
    const passed = (typeof reason === 'object' && reason !== null ? reason : headers) as Passed | undefined
    if (ours.length === 0 || this.headersSent || !hasForeign(this, passed, ours))
      return write.call(this, status, reason, headers)
    const kept = keepOneSet(this, status, passed, ours)
    return typeof reason === 'string' ? write.call(this, status, reason, kept) : write.call(this, status, kept)
  }
  target.writeHead = checked as ServerResponse['writeHead']
}

/** Whether a response has fields of other limits. Nearly all responses have none. */
function hasForeign(res: ServerResponse, passed: Passed | undefined, ours: readonly HeaderLine[]): boolean {
  for (const name of res.getHeaderNames()) {
    if (isLimitField(name) && isForeignField(name, res.getHeader(name), ours)) return true
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
