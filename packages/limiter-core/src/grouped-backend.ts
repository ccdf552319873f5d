import type { Answer, Backend, Charge, MaybePromise, Moment, Step } from './contracts.ts'
import { allOf, andThen, isPromise } from './maybe-promise.ts'
import { vetoed } from './verdict.ts'

/** The charges of one request that one backend counts. */
interface Part {
  readonly backend: Backend
  readonly indexes: readonly number[]
  readonly charges: readonly Charge[]
}

/**
 * Several backends as one. They are asked one after the other, synchronous ones first, and a later denial takes the
 * earlier parts back by `adjust`, and so does a failure, which is then thrown on: that never over-admits, and may turn
 * others away while the round trip lasts.
 */
export class GroupedBackend implements Backend {
  readonly name = 'grouped'
  readonly #homes: ReadonlyMap<Step, Backend>
  readonly #backends: readonly Backend[]

  constructor(homes: ReadonlyMap<Step, Backend>) {
    this.#homes = homes
    const backends = [...new Set(homes.values())]
    this.#backends = [...backends.filter((one) => one.synchronous), ...backends.filter((one) => !one.synchronous)]
  }

  take(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    return this.#takeFrom(this.#parts(charges), [], moment)
  }

  peek(charges: readonly Charge[], moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.peek(part.charges, moment)))
    return andThen(answers, (all) => merged(parts, all))
  }

  adjust(charges: readonly Charge[], takenAt: number, moment?: Moment): MaybePromise<Answer> {
    const parts = this.#parts(charges)
    const answers = allOf(parts.map((part) => part.backend.adjust(part.charges, takenAt, moment)))
    return andThen(answers, (all) => merged(parts, all))
  }

  reset(targets: readonly Pick<Charge, 'key' | 'step' | 'count'>[]): MaybePromise<void> {
    const resets = this.#backends.map((backend) =>
      backend.reset(targets.filter((target) => this.#homes.get(target.step) === backend)),
    )
    return andThen(allOf(resets), () => undefined)
  }

  #parts(charges: readonly Charge[]): Part[] {
    return this.#backends
      .map((backend) => {
        const indexes = charges.flatMap((charge, index) => (this.#homes.get(charge.step) === backend ? [index] : []))
        return { backend, indexes, charges: indexes.map((index) => charges[index]) }
      })
      .filter((part) => part.indexes.length > 0)
  }

  #takeFrom(parts: readonly Part[], answers: Answer[], moment: Moment | undefined): MaybePromise<Answer> {
    const part = parts[answers.length]
    if (!part || answers.some((answer) => vetoed(answer.verdicts))) return settled(parts, answers, moment)
    const failed = (error: unknown): MaybePromise<never> => takenBack(parts, answers, moment, error)
    const answer = attempt(() => part.backend.take(part.charges, moment), failed)
    return andThen(answer, (one) => this.#takeFrom(parts, [...answers, one], moment))
  }
}

/** What `run` answers, or what `failed` makes of it where it throws or rejects. */
function attempt<T>(run: () => MaybePromise<T>, failed: (error: unknown) => MaybePromise<never>): MaybePromise<T> {
  try {
    const answer = run()
    return isPromise(answer) ? Promise.resolve(answer).catch(failed) : answer
  } catch (error) {
    return failed(error)
  }
}

/** Takes back all that was taken before a backend failed, then throws its error on. */
function takenBack(
  parts: readonly Part[],
  answers: readonly Answer[],
  moment: Moment | undefined,
  error: unknown,
): MaybePromise<never> {
  const undone = answers.map((answer, index) => undo(parts[index], answer, () => false, moment))
  return andThen(allOf<Answer>(undone), () => {
    throw error
  })
}

/** Takes back what must not stand, now that all verdicts are known. */
function settled(parts: readonly Part[], answers: readonly Answer[], moment: Moment | undefined): MaybePromise<Answer> {
  const verdicts = answers.flatMap((answer) => answer.verdicts)
  const denied = vetoed(verdicts)
  const advisoryStands = verdicts.every((verdict) => verdict.allowed)
  const undone = answers.map((answer, index) => {
    const stands = (charge: Charge): boolean => !denied && (!charge.advisory || advisoryStands)
    return undo(parts[index], answer, stands, moment)
  })
  return andThen(allOf<Answer>(undone), () => merged(parts, answers))
}

/** Refunds those charges of a part that were taken and do not stand. */
function undo(
  part: Part,
  answer: Answer,
  stands: (charge: Charge) => boolean,
  moment: Moment | undefined,
): MaybePromise<Answer> {
  const wasTaken = (charge: Charge): boolean =>
    !vetoed(answer.verdicts) && (!charge.advisory || answer.verdicts.every((verdict) => verdict.allowed))
  const back = part.charges.filter((charge) => wasTaken(charge) && !stands(charge) && charge.cost > 0)
  if (back.length === 0) return answer
  const refunds = back.map((charge) => ({ ...charge, cost: -charge.cost }))
  return part.backend.adjust(refunds, answer.takenAt, moment)
}

function merged(parts: readonly Part[], answers: readonly Answer[]): Answer {
  const rows = answers.flatMap((answer, part) =>
    answer.verdicts.map((verdict, at) => ({ index: parts[part].indexes[at], verdict, takenAt: answer.takenAt })),
  )
  rows.sort((a, b) => a.index - b.index)
  return {
    verdicts: rows.map((row) => row.verdict),
    takenAt: rows[0].takenAt,
    takenAts: rows.map((row) => row.takenAt),
    counted: answers.every((answer) => answer.counted),
    source: [...new Set(answers.map((answer) => answer.source))].join('+'),
  }
}
