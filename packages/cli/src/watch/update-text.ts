import { createColors } from 'picocolors'
import type { LiveBackend, LiveCap, LiveKey, LivePolicy, LiveShed, LiveUpdate } from '../live/live-update.ts'
import { count, duration, milliseconds, percent, rate, windowText } from '../terminal/figures.ts'
import { cellText, safeText } from '../terminal/safe-text.ts'
import { tableLines } from '../terminal/text-table.ts'

export interface UpdateTextOptions {
  readonly address: URL
  readonly isColored: boolean
  /** Why the connection is lost; undefined while it is not. */
  readonly lost?: string | undefined
}

/** Most rows of each list of keys. */
const MAX_KEYS = 8
/** Share of a limit from which it is shown as nearly used up. */
const NEARLY_USED = 0.9

type Colors = ReturnType<typeof createColors>

/** Returns an update as lines of text: a status, then policies, caps, shed requests, backends and keys. */
export function updateLines(update: LiveUpdate, { address, isColored, lost }: UpdateTextOptions): string[] {
  const colors = createColors(isColored)
  const { policies, caps, sheds = [], backends } = update
  return [
    statusLine(update, address, lost, colors),
    '',
    ...(policies.length === 0 ? ['No policies are observed.'] : policyLines(policies, colors)),
    ...(caps.length === 0 ? [] : ['', ...capLines(caps, colors)]),
    ...(sheds.length === 0 ? [] : ['', ...shedLines(sheds, colors)]),
    ...(backends.length === 0 ? [] : ['', ...backendLines(backends, colors)]),
    ...keyLines('MOST DENIED KEYS', policies, ({ topDenied }) => topDenied),
    ...keyLines('MOST ALLOWED KEYS', policies, ({ topAllowed }) => topAllowed),
  ]
}

function statusLine(update: LiveUpdate, address: URL, lost: string | undefined, { bold, red, green }: Colors): string {
  const { at, ratePerSecond, deniedShare, isWholeFleet, processes, controls } = update
  const time = new Date(at).toISOString().slice(11, 19)
  if (lost !== undefined) return red(`Disconnected since ${time} UTC, reconnecting: ${safeText(lost)}`)
  const parts = [
    `${rate(ratePerSecond.now)} decisions/s`,
    `${percent(deniedShare)} denied`,
    isWholeFleet ? plural(processes.length, 'process', 'processes') : 'one process',
    ...(controls.length === 0 ? [] : [plural(controls.length, 'active change', 'active changes')]),
  ]
  return `${green('Live')} ${time} UTC  ${bold(safeText(String(address)))}  ${parts.join(', ')}`
}

function policyLines(policies: readonly LivePolicy[], colors: Colors): string[] {
  const numbers = ['ALLOWED/S', 'DENIED/S', 'SHADOW/S'].map((label) => ({ label, isNumber: true }))
  const columns = [{ label: 'POLICY' }, { label: 'LIMIT' }, ...numbers, { label: 'CLOSEST KEY' }]
  const busiest = policies.toSorted((a, b) => ratesOf(b) - ratesOf(a) || a.name.localeCompare(b.name))
  const rows = busiest.map((policy) => policyCells(policy, colors))
  return tableLines(columns, rows)
}

function policyCells({ name, limit, unit, windowMs, modes, perSecond, nearest }: LivePolicy, colors: Colors): string[] {
  const { yellow, red, dim } = colors
  const isShadow = modes.enforce === 0 && modes.shadow > 0
  const coloured = (value: number, paint: (text: string) => string): string =>
    value > 0 ? paint(rate(value)) : rate(value)
  return [
    cellText(name) + (isShadow ? dim(' (shadow)') : ''),
    `${count(limit)} ${cellText(unit)} / ${windowText(windowMs)}`,
    rate(perSecond.allowed),
    coloured(perSecond.denied, red),
    coloured(perSecond.shadowDenied, yellow),
    nearest === undefined ? '–' : nearestText(nearest, yellow),
  ]
}

function nearestText({ key, usedShare }: NonNullable<LivePolicy['nearest']>, paint: (text: string) => string): string {
  const used = `${cellText(key)} ${percent(usedShare)}`
  return usedShare >= NEARLY_USED ? paint(used) : used
}

function ratesOf({ perSecond: { allowed, denied, shadowDenied } }: LivePolicy): number {
  return Math.round(allowed + denied + shadowDenied)
}

function capLines(caps: readonly LiveCap[], { yellow }: Colors): string[] {
  const labels = ['IN FLIGHT', 'LIMIT', 'WAITING', 'PEAK', 'HOLD P50', 'HOLD P99', 'DENIED']
  const numbers = labels.map((label) => ({ label, isNumber: true }))
  const rows = caps.map(({ name, held, limit, waiting = 0, peak, holdMs, denied, byPriority = [] }) => [
    cellText(name),
    held >= limit ? yellow(count(held)) : count(held),
    ...[limit, waiting, peak].map(count),
    ...[holdMs.p50, holdMs.p99].map(milliseconds),
    count(denied),
    classesText(byPriority.map(({ priority, perSecond }) => [priority, perSecond.denied])),
  ])
  return tableLines([{ label: 'CAP' }, ...numbers, { label: 'DENIED/S BY PRIORITY' }], rows)
}

function shedLines(sheds: readonly LiveShed[], { yellow }: Colors): string[] {
  const rows = sheds.map(({ policy, pressure, signal, byPriority }) => [
    cellText(policy),
    pressure === null ? '–' : yellow(percent(pressure)),
    signal === null ? '–' : cellText(signal),
    count(byPriority.reduce((sum, { shed }) => sum + shed, 0)),
    classesText(byPriority.map(({ priority, perSecond }) => [priority, perSecond])),
  ])
  const columns = [{ label: 'SHED BY' }, { label: 'PRESSURE', isNumber: true }, { label: 'SIGNAL' }]
  return tableLines([...columns, { label: 'SHED', isNumber: true }, { label: 'SHED/S BY PRIORITY' }], rows)
}

/** Formats rates by priority: `low 12, sheddable 40`. */
function classesText(rates: readonly (readonly [priority: string, perSecond: number])[]): string {
  const occurring = rates.filter(([, perSecond]) => perSecond > 0)
  return occurring.map(([priority, perSecond]) => `${cellText(priority)} ${rate(perSecond)}`).join(', ') || '–'
}

function backendLines(backends: readonly LiveBackend[], { green, red }: Colors): string[] {
  const columns = [{ label: 'BACKEND' }, { label: 'STATE' }, { label: 'FOR' }, { label: 'LAST ERROR' }]
  const rows = backends.map(({ name, state, sinceMs, lastError }) => [
    cellText(name),
    (state === 'ok' ? green : red)(state === 'open' ? 'circuit open' : cellText(state)),
    duration(sinceMs),
    lastError === null ? '–' : cellText(lastError),
  ])
  return tableLines(columns, rows)
}

function keyLines(
  label: string,
  policies: readonly LivePolicy[],
  keysOf: (policy: LivePolicy) => readonly LiveKey[],
): string[] {
  const all = policies.flatMap((policy) => keysOf(policy).map((key) => ({ ...key, policy: policy.name })))
  if (all.length === 0) return []
  const rows = all
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_KEYS)
    .map(({ key, policy, count: most, error }) => [
      cellText(key),
      cellText(policy),
      error === 0 ? count(most) : `${count(most - error)} to ${count(most)}`,
    ])
  return ['', ...tableLines([{ label }, { label: 'POLICY' }, { label: 'LAST 10 MIN', isNumber: true }], rows)]
}

function plural(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`
}
