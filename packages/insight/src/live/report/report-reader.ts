import { read } from '@sluice/fleet/backend'
import { boundedText } from '../../bounded-text.ts'
import { DENIAL_REASONS, PRIORITIES } from '../../priorities.ts'
import {
  type BanReport,
  type CapReport,
  type DenialReport,
  type HoldReport,
  MAX_BACKENDS,
  MAX_CAPS,
  MAX_DENIALS_OF_KEY,
  MAX_POLICIES,
  MAX_REPORTED_BANS,
  MAX_REPORTED_DENIALS,
  MAX_REPORTED_EVENTS,
  MAX_REPORTED_ROUTES,
  MAX_SHEDS,
  type PolicyReport,
  type ProcessFacts,
  type ProcessReport,
  type ReportedCalendar,
  type ReportedNews,
  type RouteReport,
  type RouteUniquesReport,
  type ShedReport,
  type UniquesReport,
} from './process-report.ts'
import type { BackendSnapshot, DenialSnapshot, EventSnapshot, NearestSnapshot } from './snapshot.ts'
import { TOP_KEYS, type TopKey, type TopKeyList } from './top-keys.ts'
import type { UniquesPart } from './unique-keys.ts'

const { amount, fields, firstOf, oneOf, optional, tuple } = read
/** A sketch in base64. The parser of the sketch checks its length. */
const sketch = read.string
const text = (value: unknown): string => boundedText(read.string(value))
const isTrue = (value: unknown): boolean => value === true
const counts = (length: number): read.Reader<readonly number[]> =>
  tuple<readonly number[]>(...Array.from({ length }, () => amount))
const share = (value: unknown): number => Math.min(1, amount(value))

const facts = fields<ProcessFacts>({ id: text, host: text, pid: amount, version: text, startedAt: amount })
const calendar = fields<ReportedCalendar>({
  per: oneOf('day', 'week', 'month'),
  timeZone: text,
  resetAt: optional(text),
  anchor: optional(amount),
  carryOver: optional(amount),
})
const nearest = fields<NearestSnapshot>({
  id: optional(text),
  key: text,
  usedShare: share,
})
const topKeys = fields<TopKeyList>({
  floor: amount,
  keys: firstOf(TOP_KEYS, tuple<TopKey>(text, text, amount, amount)),
})
const policy = fields<PolicyReport>({
  name: text,
  limit: amount,
  windowMs: amount,
  unit: text,
  calendar: optional(calendar),
  shadow: isTrue,
  counts: tuple(amount, amount, amount, amount),
  units: optional(tuple(amount, amount)),
  nearest: optional(nearest),
  topAllowed: optional(topKeys),
  topDenied: optional(topKeys),
})
const cap = fields<CapReport>({
  name: text,
  limit: amount,
  isLocal: isTrue,
  held: amount,
  peak: amount,
  waiting: optional(amount),
  denied: amount,
  byPriority: optional(counts(2 * PRIORITIES.length)),
  byReason: optional(counts(DENIAL_REASONS.length)),
  objective: optional(tuple(share, amount)),
})
const shed = fields<ShedReport>({
  name: text,
  byPriority: counts(PRIORITIES.length),
  shadow: amount,
  pressure: optional(share),
  signal: optional(text),
})
const backend = fields<BackendSnapshot>({
  name: text,
  state: oneOf('ok', 'failing', 'open'),
  sinceMs: amount,
  lastError: (value) => (value === null ? null : text(value)),
})
const part = tuple<UniquesPart>(amount, sketch)
const routeUniques = fields<RouteUniquesReport>({ route: text, method: text, quarter: part })
const uniques = fields<UniquesReport>({
  quarter: part,
  hour: optional(part),
  routes: firstOf(MAX_REPORTED_ROUTES, routeUniques),
})
const denial = fields<DenialSnapshot>({
  at: amount,
  policy: text,
  route: text,
  method: text,
  isShadow: isTrue,
  times: amount,
})
const ban = fields<BanReport>({ id: text, key: text, policy: text, endsAt: amount, level: amount })
const news = fields<ReportedNews>({
  routes: firstOf(MAX_REPORTED_ROUTES, fields<RouteReport>({ route: text, method: text, durations: sketch })),
  holds: firstOf(MAX_CAPS, fields<HoldReport>({ cap: text, durations: sketch })),
  events: firstOf(MAX_REPORTED_EVENTS, fields<EventSnapshot>({ at: amount, name: text, text })),
  denials: optional(
    firstOf(MAX_REPORTED_DENIALS, fields<DenialReport>({ id: text, denials: firstOf(MAX_DENIALS_OF_KEY, denial) })),
  ),
  bans: optional(firstOf(MAX_REPORTED_BANS, ban)),
})

/**
 * Reads a report. Drops unknown fields and list entries beyond the limits, and shortens texts. Throws
 * `MalformedMessage`.
 */
export const readReport: read.Reader<ProcessReport> = fields<ProcessReport>({
  process: facts,
  number: amount,
  uptimeMs: amount,
  memoryBytes: amount,
  lagMs: optional(amount),
  policies: firstOf(MAX_POLICIES, policy),
  caps: firstOf(MAX_CAPS, cap),
  sheds: optional(firstOf(MAX_SHEDS, shed)),
  backends: firstOf(MAX_BACKENDS, backend),
  uniques: optional(uniques),
  news,
})
