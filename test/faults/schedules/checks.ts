import { Spends } from '../../leases/spends.ts'
import type { KeyRecord } from './key-record.ts'
import { BRIEF_MS, mostInWindow } from './policies.ts'
import type { Schedule } from './schedule.ts'

/** Tolerance in units: what a bucket drains meanwhile, and rounding to whole units. */
const DRAINED = 1

interface Counted {
  readonly limit: number
  readonly charged: number
  readonly lent: number
}

/** Violations of the allowed range of charged units and leased units. */
export function missesOf(record: KeyRecord, schedule: Schedule, { limit, charged, lent }: Counted): readonly string[] {
  const { loses, counting } = schedule
  // usage sent without an answer and the same usage known to other members is one count, which an empty ledger cannot
  // know
  if (loses && counting === 'leased') return []
  const [atLeast, most] = record.range()
  const least = loses ? 0 : atLeast
  const misses: string[] = []
  const seen = `${record.name.key}: ${charged} charged, ${lent} on lease, of ${least} to ${most} used`
  if (charged > most + DRAINED) misses.push(`${seen}: too much\n${record.history()}`)
  if (charged + lent < Math.min(limit, least) - DRAINED) misses.push(`${seen}: too little\n${record.history()}`)
  return misses
}

/** A server that lost its counts has received what it had reported itself, and denied keys stay denied. */
export function forgotten({ name, takes }: KeyRecord, limit: number, charged: number): readonly string[] {
  const counted = takes.filter(({ report }) => report?.counted)
  const heard = Math.max(0, ...counted.map(({ report }) => limit - (report?.remaining ?? limit)))
  const misses = charged < heard - DRAINED ? [`${name.key}: ${charged} charged where ${heard} had been told`] : []
  for (const denied of counted) {
    if (denied.report?.allowed) continue
    const free = counted.find(
      ({ member, cost, startedAt, report }) =>
        member === denied.member && cost >= denied.cost && startedAt > denied.endedAt && report?.allowed,
    )
    if (free) misses.push(`${name.key}: member ${free.member} was denied ${denied.cost}, and got ${free.cost} later`)
  }
  return misses
}

/** Windows with more admitted units than the policy guarantees, among takes that the server counted. */
export function windowMisses(record: KeyRecord, schedule: Schedule, limit: number): readonly string[] {
  const { policy, key } = record.name
  // refunded units may be taken again
  if (record.refunds.length > 0 || record.resets.length > 0 || schedule.loses) return []
  const spends = new Spends()
  for (const { at, units } of spendsOf(record, schedule)) spends.add(at, units)
  const most = policy === 'brief' ? mostInWindow(schedule, limit) : limit
  const worst =
    policy === 'brief' ? spends.worstWindow(BRIEF_MS - (schedule.counting === 'exact' ? 0 : CLOCK_MS)) : spends.total
  return worst > most ? [`${key}: ${worst} in a window that has ${most}`] : []
}

/** Maximum difference between two clock readings when takes are ordered by the clock of their process. */
const CLOCK_MS = 5

/** Takes from a lease have no server time. Among them, only takes without a delay are used. */
function spendsOf({ takes }: KeyRecord, { counting }: Schedule): { readonly at: number; readonly units: number }[] {
  const spends = takes.flatMap(({ report, cost, startedAt, endedAt }) => {
    if (!(report?.counted && report.allowed)) return []
    if (counting === 'exact') return [{ at: report.takenAt, units: cost }]
    return endedAt - startedAt < CLOCK_MS ? [{ at: startedAt, units: cost }] : []
  })
  return spends.sort((one, other) => one.at - other.at)
}

/** Takes that the server denied although there was room under any possible count. */
export function wrongDenials(record: KeyRecord, { counting }: Schedule, limit: number): readonly string[] {
  const { policy, key } = record.name
  // units leased to other members are not available
  if (policy === 'brief' || record.resets.length > 0 || (counting === 'leased' && policy === 'tight')) return []
  const denied = record.takes.filter(({ report }) => report?.counted && !report.allowed)
  const room = limit - record.mostEver()
  const wrong = denied.filter(({ cost }) => cost <= room)
  return wrong.length > 0 ? [`${key}: ${wrong.length} denied where ${room} were left`] : []
}
