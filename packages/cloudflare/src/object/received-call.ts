import {
  countNameOf,
  doneNamesOf,
  haveSameLayout,
  type ReportedUsage,
  type RowCharge,
  type RowRequest,
} from '@sluice/fleet/backend'
import type { CompiledPolicy } from '@sluice/limiter-core/backend'
import { type CallMessage, OPERATIONS, type SentCharge, type SentUsage } from '../calls/call-message.ts'
import { checkedCall } from './checked-call.ts'
import { checkedPolicy } from './checked-policy.ts'

export interface ReceivedCall extends Pick<CallMessage, 'deadline' | 'given' | 'durable'> {
  readonly requests: readonly RowRequest[]
  /** Names of all entries that the requests need. */
  readonly names: readonly string[]
}

/** Number of compiled policies that an object keeps. */
const MAX_POLICIES = 1_000
const NAMES = Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]

/** Reads the bodies of calls. */
export class CallReader {
  readonly #policies = new Map<string, CompiledPolicy>()

  /** Throws if the body is not a call of this release. */
  read(body: string): ReceivedCall {
    const message = checkedCall(JSON.parse(body))
    const { deadline, given, durable } = message
    const compiled = message.policies.map((text) => this.#compiledOf(text))
    const counts = message.names.map(countNameOf)
    const names = new Set<string>()
    checkLayouts(message, compiled)
    const requests = message.requests.map(([number, takenAt, id, sent]): RowRequest => {
      const charges = sent.map((charge) => receivedCharge(charge, counts, compiled))
      const countNames = charges.map(({ name }) => name)
      const doneNames = id === '' ? undefined : doneNamesOf(countNames, id)
      for (const name of countNames) names.add(name)
      for (const name of doneNames ?? []) names.add(name)
      return { operation: NAMES[number], takenAt, doneNames, charges }
    })
    return { deadline, given, durable, requests, names: [...names] }
  }

  #compiledOf(text: string): CompiledPolicy {
    let compiled = this.#policies.get(text)
    if (!compiled) {
      if (this.#policies.size >= MAX_POLICIES) this.#policies.clear()
      compiled = checkedPolicy(JSON.parse(text))
      this.#policies.set(text, compiled)
    }
    return compiled
  }
}

/** Throws if a call uses one name for policies with different cells. Another call would fail for this name only. */
function checkLayouts({ names, requests }: CallMessage, policies: readonly CompiledPolicy[]): void {
  const policyOf = new Map<number, CompiledPolicy>()
  for (const [, , , charges] of requests) {
    for (const [name, policy] of charges) {
      const known = policyOf.get(name) ?? policies[policy]
      policyOf.set(name, known)
      if (known === policies[policy] || haveSameLayout(known, policies[policy])) continue
      throw new TypeError(`names: expected one layout of cells for '${names[name]}', received two`)
    }
  }
}

function receivedCharge(
  [name, policy, cost, advisory, known]: SentCharge,
  names: readonly string[],
  policies: readonly CompiledPolicy[],
): RowCharge {
  return {
    name: names[name],
    compiled: policies[policy],
    cost,
    advisory: advisory === 1,
    known: known && reportedUsage(known),
  }
}

function reportedUsage([used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt]: SentUsage): ReportedUsage {
  return {
    used,
    resetAfterMs: resetAfterMs ?? Number.POSITIVE_INFINITY,
    usedAt: usedAt ?? Number.POSITIVE_INFINITY,
    admitted: uncounted + unsure > 0 ? { uncounted, unsure, upTo, ageMs: 0 } : undefined,
    admittedAt,
  }
}
