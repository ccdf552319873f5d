import { percent } from '../report/number-text.ts'
import type { ProposalReport } from '../report/replay-report.ts'

/** Busiest windows of the clients of a policy. */
export interface Demand {
  /** Number of clients, all or sampled. */
  readonly clients: number
  /** Units in the busiest window of all. */
  readonly largest: number
  /** Smallest limits under which shares of the clients are never denied, the smallest share first. */
  readonly percentiles: readonly { readonly share: number; readonly limit: number }[]
  /** Returns the parts of the clients that exceed a limit, and of the requests that they sent, from 0 to 1. */
  readonly above: (limit: number) => { readonly clients: number; readonly requests: number }
}

/** Room above the busiest ordinary client, for days with more traffic than the log has. */
const HEADROOM = 1.25
/** The largest client is taken for an ordinary one up to this many times the client at the chosen percentile. */
const ORDINARY = 2
/** A limit that denies a larger part of the clients is not proposed. */
const LEAST_SHARE = 0.99
/** A higher percentile with fewer clients above it depends on single clients. */
const FEWEST_ABOVE = 10
/** Fewer clients say too little about others. */
const FEWEST_CLIENTS = 100
const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

/**
 * Proposes a limit that ordinary clients do not reach: the percentile that the number of clients supports, plus a
 * quarter, rounded up. Returns undefined without clients.
 */
export function proposedLimit(demand: Demand, unit: string, window: string): ProposalReport | undefined {
  const { clients, largest } = demand
  if (clients === 0) return undefined
  const busiest = `the busiest used ${amount(largest)} ${unit} in ${window}`
  if (clients < FEWEST_CLIENTS) {
    const few = clients === 1 ? 'The log has only one client' : `The log has only ${amount(clients)} clients`
    return { limit: rounded(2 * largest), reason: `${few}, and ${busiest}. This is twice as much, rounded up.` }
  }
  const { share, limit: used } = supported(demand)
  if (largest <= ORDINARY * used) {
    const reason = `No client stands out: ${busiest}. This is a quarter more, rounded up, and touches none of them.`
    return { limit: rounded(HEADROOM * largest), reason }
  }
  const limit = rounded(HEADROOM * used)
  const above = demand.above(limit)
  return {
    limit,
    reason:
      `${percent(share)} of ${amount(clients)} clients never used more than ${amount(used)} ${unit} in ${window}, and ` +
      `${busiest}. This is a quarter more than ${amount(used)}, rounded up. It is exceeded by ` +
      `${percent(above.clients)} of the clients, which sent ${percent(above.requests)} of the requests.`,
  }
}

/** Returns the highest percentile that has enough clients above it, and at least 99 %. */
function supported({ clients, percentiles }: Demand): { readonly share: number; readonly limit: number } {
  const usable = percentiles.filter(({ share }) => share >= LEAST_SHARE)
  return usable.findLast(({ share }) => clients * (1 - share) >= FEWEST_ABOVE - 1e-6) ?? usable[0]
}

/** Returns the next number of at most two digits that people choose: 12, 15, 20, 25 and so on. */
function rounded(value: number): number {
  const wanted = Math.max(1, Math.ceil(value))
  if (wanted <= 10) return wanted
  const power = 10 ** Math.floor(Math.log10(wanted))
  const step = STEPS.find((one) => Math.round(one * power) >= wanted) ?? 10
  return Math.round(step * power)
}

function amount(value: number): string {
  return value.toLocaleString('en-US')
}
