import { boundedText } from '../../bounded-text.ts'
import {
  type CapReport,
  type DenialReport,
  type HoldReport,
  MAX_BACKENDS,
  MAX_CAPS,
  MAX_DENIALS_OF_KEY,
  MAX_POLICIES,
  MAX_REPORTED_DENIALS,
  MAX_REPORTED_EVENTS,
  MAX_REPORTED_ROUTES,
  type MovedUnits,
  type OutcomeCounts,
  type PolicyReport,
  type ProcessReport,
  type RouteReport,
  type RouteUniquesReport,
  type UniquesReport,
} from './process-report.ts'
import type { BackendSnapshot, DenialSnapshot, EventSnapshot, NearestSnapshot } from './snapshot.ts'
import { TOP_KEYS, type TopKey, type TopKeyList } from './top-keys.ts'
import type { UniquesPart } from './unique-keys.ts'

type Fields = Readonly<Record<string, unknown>>

/** Validates a report. Drops unknown fields and list entries beyond the limits. Throws if it is malformed. */
export function readReport(value: unknown): ProcessReport {
  const fields = fieldsOf(value)
  const facts = fieldsOf(fields.process)
  const news = fieldsOf(fields.news)
  return {
    process: {
      id: text(facts.id),
      host: text(facts.host),
      pid: count(facts.pid),
      version: text(facts.version),
      startedAt: count(facts.startedAt),
    },
    number: count(fields.number),
    uptimeMs: count(fields.uptimeMs),
    memoryBytes: count(fields.memoryBytes),
    lagMs: fields.lagMs === undefined ? undefined : count(fields.lagMs),
    policies: list(fields.policies, MAX_POLICIES, policy),
    caps: list(fields.caps, MAX_CAPS, cap),
    backends: list(fields.backends, MAX_BACKENDS, backend),
    uniques: optional(fields.uniques, uniques),
    news: {
      routes: list(news.routes, MAX_REPORTED_ROUTES, route),
      holds: list(news.holds, MAX_CAPS, hold),
      events: list(news.events, MAX_REPORTED_EVENTS, event),
      denials: news.denials === undefined ? undefined : list(news.denials, MAX_REPORTED_DENIALS, keyDenials),
    },
  }
}

function policy(fields: Fields): PolicyReport {
  return {
    name: text(fields.name),
    limit: count(fields.limit),
    windowMs: count(fields.windowMs),
    unit: text(fields.unit),
    calendar: optional(fields.calendar, calendar),
    shadow: fields.shadow === true,
    counts: outcomes(fields.counts),
    units: fields.units === undefined ? undefined : movedUnits(fields.units),
    nearest: optional(fields.nearest, nearest),
    topAllowed: optional(fields.topAllowed, topKeys),
    topDenied: optional(fields.topDenied, topKeys),
  }
}

function outcomes(value: unknown): OutcomeCounts {
  const [allowed, denied, shadowDenied, uncounted] = arrayOf(value)
  return [count(allowed), count(denied), count(shadowDenied), count(uncounted)]
}

function movedUnits(value: unknown): MovedUnits {
  const [charged, refunded] = arrayOf(value)
  return [count(charged), count(refunded)]
}

function calendar(fields: Fields): PolicyReport['calendar'] {
  const { per, timeZone, anchor, carryOver } = fields
  if (per !== 'day' && per !== 'week' && per !== 'month') throw invalid(per, 'a period')
  return {
    per,
    timeZone: text(timeZone),
    ...(anchor !== undefined && { anchor: count(anchor) }),
    ...(carryOver !== undefined && { carryOver: count(carryOver) }),
  }
}

function nearest(fields: Fields): NearestSnapshot {
  const id = fields.id === undefined ? undefined : text(fields.id)
  return { ...(id !== undefined && { id }), key: text(fields.key), usedShare: Math.min(1, count(fields.usedShare)) }
}

function topKeys(fields: Fields): TopKeyList {
  const keys = arrayOf(fields.keys).slice(0, TOP_KEYS).map(topKey)
  return { floor: count(fields.floor), keys }
}

function topKey(value: unknown): TopKey {
  const [id, key, most, error] = arrayOf(value)
  return [text(id), text(key), count(most), count(error)]
}

function cap(fields: Fields): CapReport {
  const { name, limit, held, peak, denied } = fields
  return { name: text(name), limit: count(limit), held: count(held), peak: count(peak), denied: count(denied) }
}

function backend({ name, state, sinceMs, lastError }: Fields): BackendSnapshot {
  if (state !== 'ok' && state !== 'failing' && state !== 'open') throw invalid(state, 'a state')
  return { name: text(name), state, sinceMs: count(sinceMs), lastError: lastError === null ? null : text(lastError) }
}

function uniques(fields: Fields): UniquesReport {
  return {
    quarter: part(fields.quarter),
    hour: fields.hour === undefined ? undefined : part(fields.hour),
    routes: list(fields.routes, MAX_REPORTED_ROUTES, routeUniques),
  }
}

function routeUniques(fields: Fields): RouteUniquesReport {
  return { route: text(fields.route), method: text(fields.method), quarter: part(fields.quarter) }
}

function part(value: unknown): UniquesPart {
  const [number, sketch] = arrayOf(value)
  return [count(number), bytes(sketch)]
}

function route(fields: Fields): RouteReport {
  return { route: text(fields.route), method: text(fields.method), durations: bytes(fields.durations) }
}

function hold(fields: Fields): HoldReport {
  return { cap: text(fields.cap), durations: bytes(fields.durations) }
}

function event(fields: Fields): EventSnapshot {
  return { at: count(fields.at), name: text(fields.name), text: text(fields.text) }
}

function keyDenials(fields: Fields): DenialReport {
  return { id: text(fields.id), denials: list(fields.denials, MAX_DENIALS_OF_KEY, denial) }
}

function denial({ at, policy, route, method, isShadow, times }: Fields): DenialSnapshot {
  const where = { policy: text(policy), route: text(route), method: text(method) }
  return { at: count(at), ...where, isShadow: isShadow === true, times: count(times) }
}

function list<T>(value: unknown, most: number, read: (fields: Fields) => T): T[] {
  return arrayOf(value)
    .slice(0, most)
    .map((one) => read(fieldsOf(one)))
}

function optional<T>(value: unknown, read: (fields: Fields) => T): T | undefined {
  return value === undefined ? undefined : read(fieldsOf(value))
}

function arrayOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalid(value, 'an array')
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields
  throw invalid(value, 'an object')
}

function count(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value
  throw invalid(value, 'a number')
}

function text(value: unknown): string {
  return boundedText(bytes(value))
}

/** Returns an unbounded string, such as the bytes of a sketch in base64. The sketch parser checks the length. */
function bytes(value: unknown): string {
  if (typeof value === 'string') return value
  throw invalid(value, 'a string')
}

function invalid(value: unknown, expected: string): Error {
  return new Error(`expected ${expected}, received ${typeof value}`)
}
