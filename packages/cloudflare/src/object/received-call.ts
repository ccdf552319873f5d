import { repetitions } from '@sluice/fleet/backend'
import type { CompiledPolicy, PriorUsage } from '@sluice/limiter-core/backend'
import { type CallMessage, OPERATIONS, type SentCharge, type SentUsage } from '../calls/call-message.ts'
import { checkedCall } from './checked-call.ts'
import { checkedPolicy } from './checked-policy.ts'
import { haveSameLayout } from './stored-cells.ts'

/** A charge of a received request. */
export interface ReceivedCharge {
  /** Name of the entry. */
  readonly name: string
  readonly compiled: CompiledPolicy
  readonly cost: number
  readonly advisory: boolean
  readonly known: ReportedUsage | undefined
}

/** Usage that a caller knows, with times of the object. */
export interface ReportedUsage extends Pick<PriorUsage, 'used' | 'resetAfterMs' | 'admitted'> {
  /** Time of the report; Infinity for usage that is always restored. */
  readonly usedAt: number
  readonly admittedAt: number
}

export interface ReceivedRequest {
  readonly operation: keyof typeof OPERATIONS
  readonly takenAt: number
  /** Names of the entries of the idempotency id, one per charge; undefined without an id. */
  readonly doneNames: readonly string[] | undefined
  readonly charges: readonly ReceivedCharge[]
}

export interface ReceivedCall extends Pick<CallMessage, 'deadline' | 'given' | 'durable'> {
  readonly requests: readonly ReceivedRequest[]
  /** Names of all entries that the requests need. */
  readonly names: readonly string[]
}

/** Start of the names of counts and of idempotency ids in the storage. */
const COUNT = 'c:'
const DONE = 'd:'
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
    const counts = message.names.map((name) => COUNT + name)
    const names = new Set<string>()
    checkLayouts(message, compiled)
    const requests = message.requests.map(([number, takenAt, id, sent]): ReceivedRequest => {
      const charges = sent.map((charge) => receivedCharge(charge, counts, compiled))
      const doneNames = id === '' ? undefined : doneNamesOf(charges, id)
      for (const { name } of charges) names.add(name)
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

/** A repeated key has an entry for each of its charges, because a request may adjust a key several times. */
function doneNamesOf(charges: readonly ReceivedCharge[], id: string): string[] {
  const names = charges.map(({ name }) => name)
  return repetitions(names).map((before, index) => `${DONE}${before === 0 ? id : `${id}:${before}`} ${names[index]}`)
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
): ReceivedCharge {
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
