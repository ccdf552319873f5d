import { algorithms } from '../algorithms/index.ts'
import { VariantsStep } from '../algorithms/variants-step.ts'
import type { Answer, Charge, Policy, Step, StepVariant } from '../contracts.ts'
import type { LeaseAsk, LeaseGrant } from '../leases/lease-ledger.ts'
import { ChargeVerdict } from '../verdict.ts'

/** What marks a message as one of ours: other messages of the application pass by. */
export const MARK = 'sluice.cluster@1'

/** A step as it is written in a message. */
export interface SentStep {
  readonly policy: Policy
  readonly cells: number
  /** Of a step of several variants. */
  readonly variants?: readonly SentVariant[] | undefined
}

interface SentVariant extends Omit<StepVariant, 'step'> {
  readonly policy: Policy
  readonly cells: number
}

export type Sent<T extends { readonly step: Step }> = Omit<T, 'step'> & { readonly step: number }

/** One call of a worker. Steps are numbers of the list that goes with the calls. */
export type SentCall =
  | { readonly op: 'ask'; readonly asks: readonly Sent<LeaseAsk>[] }
  | { readonly op: 'take' | 'peek'; readonly charges: readonly Sent<Charge>[] }
  /** JSON has no Infinity: null is an instant later than now. */
  | { readonly op: 'adjust'; readonly charges: readonly Sent<Charge>[]; readonly takenAt: number | null }
  | { readonly op: 'reset'; readonly targets: readonly Sent<Pick<Charge, 'key' | 'step' | 'count'>>[] }

/** Calls of one turn. Without any it only asks whether the primary listens. */
export interface CallMessage {
  readonly mark: typeof MARK
  /** Whose calls: a worker may have several backends, and all of them hear each answer. */
  readonly line: number
  readonly steps: readonly SentStep[]
  readonly calls: readonly { readonly id: number; readonly call: SentCall; readonly deadlineWall: number }[]
}

/** Answers in the order in which they are ready; an error is its text. */
export interface AnswerMessage {
  readonly mark: typeof MARK
  /** Of the calls. */
  readonly line: number
  readonly answers: readonly {
    readonly id: number
    readonly value?: unknown
    readonly late?: true
    readonly error?: string
  }[]
}

/** Numbers the steps of one message. */
export class SentSteps {
  readonly list: SentStep[] = []
  readonly #numbers = new Map<Step, number>()

  /** The same, with a number in place of its step. */
  of<T extends { readonly step: Step }>(one: T): Sent<T> {
    const { step } = one
    let number = this.#numbers.get(step)
    if (number === undefined) {
      number = this.list.push(sentStep(step)) - 1
      this.#numbers.set(step, number)
    }
    return { ...one, step: number }
  }
}

/** Steps that came in messages, compiled once each. */
export class ReceivedSteps {
  readonly #compiled = new Map<string, Step>()

  /** Throws where a policy is none. */
  of(sent: SentStep): Step {
    const id = JSON.stringify(sent)
    const step = this.#compiled.get(id) ?? compiled(sent)
    this.#compiled.set(id, step)
    return step
  }
}

/** What an answer is in JSON, where Infinity is null. */
export function received(charges: readonly Charge[], { verdicts, ...answer }: Answer): Answer {
  return {
    ...answer,
    verdicts: verdicts.map((verdict, index) => {
      const { step, advisory } = charges[index]
      const { remaining, retryAfterMs, resetAfterMs, availableAfterMs } = verdict
      const waitMs = retryAfterMs ?? Number.POSITIVE_INFINITY
      return new ChargeVerdict(step.policy, advisory === true, remaining, waitMs, resetAfterMs, availableAfterMs)
    }),
  }
}

export function receivedGrants(grants: readonly LeaseGrant[]): readonly LeaseGrant[] {
  return grants.map((grant) => ({ ...grant, retryAfterMs: grant.retryAfterMs ?? Number.POSITIVE_INFINITY }))
}

export function isCall(message: unknown): message is CallMessage {
  return isMarked(message) && isListOfObjects(message.calls) && Array.isArray(message.steps)
}

export function isAnswer(message: unknown): message is AnswerMessage {
  return isMarked(message) && isListOfObjects(message.answers)
}

function isMarked(message: unknown): message is Readonly<Record<string, unknown>> {
  return (message as { mark?: unknown } | null | undefined)?.mark === MARK
}

function isListOfObjects(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'object' && one !== null)
}

function sentStep({ policy, cells, variants }: Step): SentStep {
  if (!variants) return { policy, cells }
  const sent = variants.map(({ step, ...variant }) => ({ ...variant, policy: step.policy, cells: step.cells }))
  return { policy, cells, variants: sent }
}

function compiled({ policy, cells, variants }: SentStep): Step {
  if (!variants) return compiledOf({ policy, cells }, false)
  return new VariantsStep(
    variants.map(({ policy: own, cells: size, ...variant }) => ({
      ...variant,
      step: compiledOf({ policy: own, cells: size }, true),
    })),
  )
}

function compiledOf({ policy, cells }: SentStep, chargedBeside: boolean): Step {
  const { compile } = algorithms[policy.algorithm]
  const step = compile(policy, policy.limit, chargedBeside)
  // a log made for a larger plan has a cell for each unit of that one
  return step.cells === cells ? step : compile(policy, policy.limit + cells - step.cells, chargedBeside)
}
