import assert from 'node:assert/strict'
import {
  type CounterLedger,
  type DigestCounters,
  type DigestCountersOptions,
  digestCounters,
  type SketchRow,
  type SketchTable,
  type UniqueCounters,
  type UniqueCountersOptions,
  uniqueCounters,
} from '@sluice/counters'
import type { HyperLogLog } from '@sluice/sketches'
import type { FakeClock } from '@sluice/testkit'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** A midnight in UTC. */
export const START: number = Date.UTC(2026, 0, 5)
export const FIRST_HOUR = START / HOUR
/** A seed under which the few keys of the claims do not collide. */
export const seed = 'a seed of more than 16 bytes'

/** A ledger with an unused counter name. */
export interface SketchBench {
  readonly clock: FakeClock
  readonly ledger: CounterLedger
  readonly name: string
  readonly durable: boolean
}

export function uniques({ clock, ledger, name }: SketchBench, options: UniqueCountersOptions = {}): UniqueCounters {
  return uniqueCounters({ ledger, name, clock, random: () => 0.99, seed, ...options })
}

export function digests({ clock, ledger, name }: SketchBench, options: DigestCountersOptions = {}): DigestCounters {
  return digestCounters({ ledger, name, clock, random: () => 0.99, ...options })
}

/** Registers of a HyperLogLog, which are equal if it counted the same keys. */
export function registers(sketch: HyperLogLog): string {
  return Buffer.from(sketch.toBytes()).toString('base64')
}

export function tableOf({ ledger, name }: SketchBench, kind: 'unique' | 'digest' = 'unique'): SketchTable {
  assert.ok(ledger.openSketches)
  return ledger.openSketches(name, kind)
}

export function rowsOf(table: SketchTable, id: string): Promise<readonly SketchRow[]> {
  return table.read(id, { from: FIRST_HOUR, until: FIRST_HOUR + 1_000 * 24 })
}

/** Rows of 'id' in the order of their hours, counted from the first hour: `24+3` are three hours from the 25th on. */
export async function rowSpans(bench: SketchBench): Promise<readonly string[]> {
  const rows = [...(await rowsOf(tableOf(bench), 'id'))].sort((one, other) => one.firstHour - other.firstHour)
  return rows.map(({ firstHour, hours }) => `${firstHour - FIRST_HOUR}+${hours}`)
}

export function near(value: number | undefined, expected: number): void {
  within(value, expected, Math.max(1, 0.0406 * expected))
}

export function within(value: number | undefined, expected: number, most: number): void {
  assert.ok(Math.abs(Number(value) - expected) <= most, `expected ${expected} ± ${most}, received ${value}`)
}

export async function codeOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code,
  )
}
