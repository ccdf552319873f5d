import { isPromise } from '../contracts/maybe-promise.ts'
import type { Answer, Charge, MaybePromise } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'

/** Reports charged and refunded units to observers once the backend has counted them, and passes the answer on. */
export function observeCharges(
  observers: Observers,
  charges: readonly Charge[],
  answer: MaybePromise<Answer>,
): MaybePromise<Answer> {
  if (!observers.any) return answer
  if (isPromise(answer)) return answer.then((answered) => observe(observers, charges, answered))
  return observe(observers, charges, answer)
}

function observe(observers: Observers, charges: readonly Charge[], answer: Answer): Answer {
  const { counted, countedEach } = answer
  for (let index = 0; index < charges.length; index++) {
    const { key, cost, counter } = charges[index]
    if (cost !== 0 && (countedEach?.[index] ?? counted)) observers.charged(key, cost, counter.compiled.policy)
  }
  return answer
}
