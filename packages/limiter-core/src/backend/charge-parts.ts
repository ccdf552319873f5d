import { allOf, andThen, isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Backend, Charge, MaybePromise, Moment } from '../contracts.ts'
import { hasDenial } from '../decision/verdict.ts'
import { checkedAnswer } from './checked-answer.ts'
import { undoneCharge } from './plain-charge.ts'

/** The charges of one request that are taken in one backend call. */
export interface ChargePart {
  readonly backend: Pick<Backend, 'takeAll' | 'adjustAll'>
  /** Index of each charge among all charges of the request. */
  readonly indexes: readonly number[]
  readonly charges: readonly Charge[]
}

/** Reads the state of a part without taking units. */
export type PeekPart = (part: ChargePart) => MaybePromise<Answer>

/**
 * Takes the parts of one request one after another. If a part denies or fails, earlier parts are refunded by
 * `adjustAll`, and a failure is rethrown. This never admits too much, but may deny other requests until the refund has
 * been applied. Refunds have no deadline, because they must not be lost. Parts after a denial are read by `peek`; if it
 * is undefined, they have no verdicts.
 */
export function takeParts(parts: readonly ChargePart[], moment?: Moment, peek?: PeekPart): MaybePromise<Answer> {
  return takeFrom({ parts, moment, peek }, [])
}

interface Taking {
  readonly parts: readonly ChargePart[]
  readonly moment: Moment | undefined
  readonly peek: PeekPart | undefined
}

function takeFrom(taking: Taking, answers: readonly Answer[]): MaybePromise<Answer> {
  const { parts, moment } = taking
  const part = parts[answers.length]
  if (!part || answers.some((answer) => hasDenial(answer.verdicts))) return settle(taking, answers)
  const failed = (error: unknown): MaybePromise<never> => refundAll(taking, answers, error)
  const take = (): MaybePromise<Answer> =>
    andThen(part.backend.takeAll(part.charges, moment), (answered) => checkedAnswer(answered, part.charges))
  const answer = attempt(take, failed)
  return andThen(answer, (one) => takeFrom(taking, [...answers, one]))
}

/** Returns the result of `run`, or of `failed` if `run` throws or rejects. */
function attempt<T>(run: () => MaybePromise<T>, failed: (error: unknown) => MaybePromise<never>): MaybePromise<T> {
  try {
    const answer = run()
    return isPromise(answer) ? Promise.resolve(answer).catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

/** Refunds all charges that were taken before a backend failed, then rethrows its error. */
function refundAll({ parts, moment }: Taking, answers: readonly Answer[], error: unknown): MaybePromise<never> {
  const undone = answers.map((answer, index) => undo(parts[index], answer, () => false, moment))
  return andThen(allOf<Answer>(undone), () => {
    throw error
  })
}

/** Refunds charges that must not be kept now that all verdicts are known, and returns the merged answer. */
function settle({ parts, moment, peek }: Taking, answers: readonly Answer[]): MaybePromise<Answer> {
  const verdicts = answers.flatMap((answer) => answer.verdicts)
  const denied = hasDenial(verdicts)
  const advisoryStands = verdicts.every((verdict) => verdict.allowed)
  const undone = answers.map((answer, index) => {
    const stands = (charge: Charge): boolean => !denied && (!charge.advisory || advisoryStands)
    return undo(parts[index], answer, stands, moment)
  })
  const peeked = peek ? parts.slice(answers.length).map(peek) : []
  return andThen(allOf<Answer>([...undone, ...peeked]), (all) => mergedAnswer(parts, all))
}

/** Refunds charges that were taken and do not stand, and returns the answer with the new verdicts. */
export function undo(
  part: Pick<ChargePart, 'backend' | 'charges'>,
  answer: Answer,
  stands: (charge: Charge) => boolean,
  moment: Moment | undefined,
): MaybePromise<Answer> {
  const wasTaken = (charge: Charge): boolean =>
    !hasDenial(answer.verdicts) && (!charge.advisory || answer.verdicts.every((verdict) => verdict.allowed))
  const back = [...part.charges.keys()].filter((at) => {
    const charge = part.charges[at]
    return wasTaken(charge) && !stands(charge) && charge.cost > 0
  })
  if (back.length === 0) return answer
  const { now } = moment ?? {}
  const refund = (places: readonly number[], takenAt: number, uncounted: boolean): MaybePromise<Answer> => {
    const refunds = places.map((at) => undoneCharge(part.charges[at], takenAt))
    return part.backend.adjustAll(refunds, takenAt, now === undefined ? { uncounted } : { now, uncounted })
  }
  const { takenAts } = answer
  // charges that were taken at different times need separate calls
  const refunded = takenAts
    ? allOf(back.map((at) => refund([at], takenAts[at], !isCounted(answer, at))))
    : andThen(refund(back, answer.takenAt, !answer.counted), (after) => [after])
  return andThen(refunded, (after) => {
    const left = after.flatMap(({ verdicts }) => verdicts)
    return { ...answer, verdicts: answer.verdicts.map((verdict, at) => left[back.indexOf(at)] ?? verdict) }
  })
}

/** Whether the charge at an index was counted. */
export function isCounted({ counted, countedEach }: Answer, at: number): boolean {
  return countedEach?.[at] ?? counted
}

/** Merges the answers of all parts into one, with the verdicts in the order of the charges. */
export function mergedAnswer(parts: readonly Pick<ChargePart, 'indexes'>[], answers: readonly Answer[]): Answer {
  const rows = answers.flatMap((answer, part) =>
    answer.verdicts.map((verdict, at) => {
      const takenAt = answer.takenAts?.[at] ?? answer.takenAt
      return { index: parts[part].indexes[at], verdict, takenAt, counted: isCounted(answer, at) }
    }),
  )
  rows.sort((a, b) => a.index - b.index)
  return {
    verdicts: rows.map((row) => row.verdict),
    takenAt: rows[0].takenAt,
    takenAts: rows.map(({ takenAt }) => takenAt),
    counted: answers.every((answer) => answer.counted),
    countedEach: rows.map(({ counted }) => counted),
    source: [...new Set(answers.map((answer) => answer.source))].join('+'),
  }
}
