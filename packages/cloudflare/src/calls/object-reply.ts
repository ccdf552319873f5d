import { type Answer, ChargeVerdict, type PolicyVerdict } from '@sluice/limiter-core/backend'
import { MARK, type ReplyMessage } from './call-message.ts'
import { type DurableObjectFailure, invalidReply, invalidState } from './durable-object-failure.ts'
import type { ObjectRequest } from './object-request.ts'

/** Numbers per verdict. */
const NUMBERS = 4

/** Returns the reply in the body of a response. Throws a `DurableObjectFailure` if there is none. */
export function readReply(text: string): ReplyMessage {
  let reply: Partial<ReplyMessage> | null
  try {
    reply = JSON.parse(text)
  } catch {
    throw invalidReply()
  }
  const isReply = reply?.mark === MARK && Number.isFinite(reply.now) && Number.isFinite(reply.lostBefore)
  if (!(isReply && Array.isArray(reply?.answers))) throw invalidReply()
  return reply as ReplyMessage
}

/**
 * Returns the answer to the request at `index`. For an adjustment, `moved` is called for each charge with the number of
 * units that were applied.
 */
export function answerOf(
  { now, answers }: ReplyMessage,
  index: number,
  { operation, charges }: ObjectRequest,
  source: string,
  moved: (charge: number, units: number) => void,
): Answer | DurableObjectFailure {
  const numbers = answers[index]
  if (numbers === null) return invalidState()
  const first = operation === 'adjust' ? charges.length : 0
  if (!Array.isArray(numbers) || numbers.length !== first + NUMBERS * charges.length) return invalidReply()
  const read = (at: number): number => numbers[at] ?? Number.POSITIVE_INFINITY
  for (let charge = 0; charge < first; charge++) moved(charge, read(charge))
  const verdicts = charges.map(({ counter, advisory }, charge): PolicyVerdict => {
    const at = first + NUMBERS * charge
    const { policy } = counter.compiled
    return new ChargeVerdict(policy, advisory === true, read(at), read(at + 1), read(at + 2), read(at + 3))
  })
  return { verdicts, takenAt: now, counted: true, source }
}
