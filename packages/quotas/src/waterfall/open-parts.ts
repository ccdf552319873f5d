import {
  type Answer,
  type Backend,
  badOption,
  compilePolicy,
  countName,
  kindOf,
  type PolicyInput,
  PolicyVariants,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { GroupMember } from '../account/account-groups.ts'
import { accountOf, type QuotaBackend, QuotaCounter } from '../quota-counter.ts'
import { type Credits, policyOfCredits } from './credits.ts'

/** Maximum number of parts of a waterfall. */
const MAX_PARTS = 8

/** A part of a waterfall: a policy from `quota`, or a balance from `credits`. */
export type WaterfallInput = PolicyInput | Credits

/** A part of an open waterfall. */
export interface OpenPart {
  readonly name: string
  readonly counter: QuotaCounter
  /** Returns the units that a period includes for a key. */
  readonly limitOf: (key: string) => number
}

/** Quotas that can open counters. */
export interface PartBackend {
  readonly exact: Backend<Promise<Answer>> & QuotaBackend
  /** Adds an open counter, and returns a function that removes it. */
  readonly opened: (counter: QuotaCounter) => () => void
}

/**
 * Returns the validated parts of a waterfall, which are quotas and balances of one backend. Throws `SLUICE_BAD_OPTION`.
 */
export function checkedParts(parts: readonly WaterfallInput[]): readonly WaterfallInput[] {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MAX_PARTS) {
    const received = Array.isArray(parts) ? `${parts.length} parts` : kindOf(parts)
    throw bad('parts', `an array of 1 to ${MAX_PARTS} quotas and credits`, received)
  }
  // `map` would skip holes of a sparse array
  const checked = Array.from(parts as readonly unknown[], checkedPart)
  const [first] = checked
  for (const [index, part] of checked.entries()) {
    const isRepeated = checked.findIndex(({ name }) => name === part.name) < index
    if (isRepeated) throw bad('parts', 'unique names', `two parts named '${part.name}'`)
    if (part.backend !== first.backend) throw bad('parts', 'parts of one createQuotas()', 'parts of several backends')
    if (unitOf(part) !== unitOf(first)) throw bad('parts', 'one unit', `'${unitOf(first)}' and '${unitOf(part)}'`)
  }
  return checked
}

/** Opens the parts of a waterfall under the count names that limiters use. */
export function openParts(parts: readonly WaterfallInput[], scope: string, backend: PartBackend): readonly OpenPart[] {
  return parts.map((part) => {
    const policy = isCredits(part) ? policyOfCredits(part) : compilePolicy(part)
    const variants = new PolicyVariants([policy])
    const compiled = variants.compile(policy)
    if (!isCredits(part)) {
      const counter = backend.exact.open(compiled, countName(scope, policy, variants.layoutName)) as QuotaCounter
      const limitOf = (key: string): number => part.overrides?.limitOf(key) ?? counter.limit
      return { name: policy.name, counter, limitOf }
    }
    let closed = (): void => {}
    const counter = new QuotaCounter(backend.exact, compiled, countName(scope, policy, 'credits@1'), () => closed())
    closed = backend.opened(counter)
    return { name: policy.name, counter, limitOf: () => 0 }
  })
}

/** Returns the account of a key under a part. */
export function memberOf({ counter }: OpenPart, key: string): GroupMember {
  return { id: accountOf({ key, counter }), terms: counter.termsOf(key) }
}

function checkedPart(given: unknown): WaterfallInput {
  const part = given as WaterfallInput | null | undefined
  if (part && isCredits(part)) return part
  if (part?.calendar === undefined) throw badOption('waterfall: parts', given, 'the results of quota() and credits()')
  const { mode = 'enforce', overrides } = part
  if (mode !== 'enforce') throw bad('mode', "'enforce' in each part", `'${mode}'`)
  if (overrides?.others === 'exempt') throw bad('overrides', "others: 'policy'", "'exempt'")
  return part
}

function isCredits(part: WaterfallInput): part is Credits {
  return (part as Partial<Credits>).kind === 'credits'
}

function unitOf({ unit = 'requests' }: WaterfallInput): string {
  return unit
}

function bad(option: string, expected: string, received: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `waterfall: ${option}: expected ${expected}, received ${received}`)
}
