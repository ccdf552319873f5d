import { invalidReply } from '../client/redis-failure.ts'
import type { TimedReply } from './timed-calls.ts'

/** Reply of a script with a deadline, split into its parts. */
interface ReplyParts extends TimedReply {
  /** Words of the first line. They begin with the time of the server, or with `late` and the time. */
  readonly fields: readonly string[]
  /** Error messages, to which fields refer by their number from 1. */
  readonly messages: readonly string[]
}

/** Splits a reply. Throws a `RedisFailure` if the reply has no valid time. */
export function replyParts(reply: unknown): ReplyParts {
  const text = String(reply)
  const end = text.indexOf('\n')
  const messages = end < 0 ? [] : text.slice(end + 1).split('\n')
  const fields = (end < 0 ? text : text.slice(0, end)).split(' ')
  const late = fields[0] === 'late'
  const now = timeOf(fields[late ? 1 : 0])
  if (!Number.isFinite(now)) throw invalidReply()
  return { fields, messages, late, now }
}

/**
 * Returns the time of a reply in ms. The script returns `seconds:microseconds` of the server's clock, or the time that
 * it received as an argument. Returns NaN if the stamp is invalid.
 */
function timeOf(stamp: string): number {
  const colon = stamp.indexOf(':')
  if (colon < 0) return stamp === '' ? Number.NaN : Number(stamp)
  return Number(stamp.slice(0, colon)) * 1_000 + Number(stamp.slice(colon + 1)) / 1_000
}
