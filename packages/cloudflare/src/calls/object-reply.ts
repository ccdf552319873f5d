import { answerOfNumbers, type RemoteReply, type RemoteRequest } from '@sluice/fleet/backend'
import type { Answer } from '@sluice/limiter-core/backend'
import { MARK, type ReplyMessage } from './call-message.ts'
import { type DurableObjectFailure, invalidReply, invalidState } from './durable-object-failure.ts'

/** The reply of an object. */
export class ObjectReply implements RemoteReply {
  readonly late: boolean
  readonly now: number
  readonly lostBefore: number
  readonly #answers: ReplyMessage['answers']
  readonly #source: string
  #at = 0

  /**
   * `text` is the body of the response, and `source` the name of the backend, for decisions. Throws a
   * `DurableObjectFailure` if the text is not a reply.
   */
  constructor(text: string, source: string) {
    const { late, now, lostBefore, answers } = readReply(text)
    this.late = late
    this.now = now
    this.lostBefore = lostBefore
    this.#answers = answers
    this.#source = source
  }

  next(request: RemoteRequest, moved: (charge: number, units: number) => void): Answer | DurableObjectFailure {
    const numbers = this.#answers[this.#at++]
    if (numbers === null) return invalidState()
    return answerOfNumbers(numbers, request, { now: this.now, source: this.#source, moved }) ?? invalidReply()
  }
}

function readReply(text: string): ReplyMessage {
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
