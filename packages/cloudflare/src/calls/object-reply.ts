import { answerOfNumbers } from '@sluice/fleet/backend'
import type { Answer } from '@sluice/limiter-core/backend'
import { MARK, type ReplyMessage } from './call-message.ts'
import { type DurableObjectFailure, invalidReply, invalidState } from './durable-object-failure.ts'
import type { ObjectRequest } from './object-request.ts'

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
  request: ObjectRequest,
  source: string,
  moved: (charge: number, units: number) => void,
): Answer | DurableObjectFailure {
  const numbers = answers[index]
  if (numbers === null) return invalidState()
  return answerOfNumbers(numbers, request, { now, source, moved }) ?? invalidReply()
}
