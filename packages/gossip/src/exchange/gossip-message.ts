import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Clocks, LogPart, SentItem } from '../log/replica-table.ts'

/** Maximum size of a message in bytes, including its seal. */
export const MAX_MESSAGE_BYTES = 65_536
/** Maximum number of clocks, and of parts, in one message. */
const MAX_REPLICAS = 10_000
const REPLICA = /^[\w-]{1,64}$/
const MAX_KEY = 1_024
/** Maximum size of an item as JSON: it must fit in a message beside the clocks of a large fleet. */
const MAX_ITEM_BYTES = 32_768

/**
 * Messages between two replicas: `ask` and its `answer`, then `push` with what the answer showed to be missing, and
 * `done`.
 */
export type GossipMessage = AskMessage | AnswerMessage | PushMessage | DoneMessage

interface AskMessage {
  readonly kind: 'ask'
  readonly from: string
  /** Returned in the answer, so that an old answer cannot be replayed. */
  readonly nonce: string
  readonly clocks: Clocks
  /** Clock up to which a long log was received in earlier answers, or up to which it need not be sent. */
  readonly cursors: Clocks
}

export interface AnswerMessage {
  readonly kind: 'answer'
  readonly from: string
  readonly nonce: string
  /** Must be returned with the push, as proof that the push is recent. */
  readonly ticket: string
  readonly clocks: Clocks
  readonly parts: readonly LogPart[]
}

interface PushMessage {
  readonly kind: 'push'
  readonly from: string
  readonly nonce: string
  readonly ticket: string
  readonly parts: readonly LogPart[]
}

interface DoneMessage {
  readonly kind: 'done'
  readonly from: string
  readonly nonce: string
}

/**
 * Returns the number of bytes of an item in a message. Throws `SLUICE_BAD_MESSAGE` for a key or value that a message
 * cannot contain.
 */
export function itemBytes(key: unknown, value: unknown): number {
  const json = jsonOf([keyOf(key), value])
  const bytes = json === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(json)
  if (bytes > MAX_ITEM_BYTES) throw badMessage(`an item that is not JSON or has more than ${MAX_ITEM_BYTES} bytes`)
  return bytes
}

/** Encodes a message as JSON, with short names, and arrays for repeated data. */
export function encoded(message: GossipMessage): string {
  const { kind, from, nonce } = message
  const clocks = 'clocks' in message ? { clocks: [...message.clocks] } : {}
  const cursors = kind === 'ask' && message.cursors.size > 0 ? { cursors: [...message.cursors] } : {}
  const parts = 'parts' in message ? { parts: message.parts.map(partJson) } : {}
  const ticket = 'ticket' in message ? { ticket: message.ticket } : {}
  return JSON.stringify({ v: 1, kind, from, nonce, ...ticket, ...clocks, ...cursors, ...parts })
}

/** Decodes a message. Throws `SLUICE_BAD_MESSAGE` for a message that `encoded` does not write. */
export function decoded(text: string): GossipMessage {
  const body = recordOf(parsed(text), 'a message')
  if (body.v !== 1) throw badMessage('another version')
  const from = replicaOf(body.from)
  const nonce = textOf(body.nonce, 'nonce')
  switch (body.kind) {
    case 'ask':
      return { kind: 'ask', from, nonce, clocks: clocksOf(body.clocks), cursors: clocksOf(body.cursors ?? []) }
    case 'answer': {
      const ticket = textOf(body.ticket, 'ticket')
      return { kind: 'answer', from, nonce, ticket, clocks: clocksOf(body.clocks), parts: partsOf(body.parts) }
    }
    case 'push':
      return { kind: 'push', from, nonce, ticket: textOf(body.ticket, 'ticket'), parts: partsOf(body.parts) }
    case 'done':
      return { kind: 'done', from, nonce }
    default:
      throw badMessage('an unknown kind')
  }
}

function partJson({ replica, base, floor, upTo, items, isCut }: LogPart): unknown[] {
  const sent = items.map(({ clock, key, value, ageMs }) => [clock, ageMs, key, value])
  const rest = base > 0 ? [isCut ? 1 : 0, base] : isCut ? [1] : []
  return [replica, floor, upTo, sent, ...rest]
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badMessage('invalid JSON')
  }
}

function clocksOf(value: unknown): Clocks {
  const pairs = listOf(value, MAX_REPLICAS, 'clocks').map((pair) => {
    const [replica, clock] = listOf(pair, 2, 'a clock')
    return [replicaOf(replica), countOf(clock, 'a clock')] as const
  })
  return new Map(pairs)
}

function partsOf(value: unknown): LogPart[] {
  return listOf(value, MAX_REPLICAS, 'parts').map((part) => {
    const [replica, floor, upTo, items, cut = 0, base = 0] = listOf(part, 6, 'a part')
    let last = 0
    const read = listOf(items, MAX_MESSAGE_BYTES, 'items').map((item): SentItem => {
      const [clock, ageMs, key, content] = listOf(item, 4, 'an item')
      if (countOf(clock, 'a clock') <= last) throw badMessage('items out of order')
      last = clock as number
      const bytes = itemBytes(key, content)
      return { clock: last, ageMs: countOf(ageMs, 'an age'), key: key as string, value: content, bytes }
    })
    if (countOf(upTo, 'upTo') < last) throw badMessage('items after the end of their part')
    return {
      replica: replicaOf(replica),
      base: countOf(base, 'a base'),
      floor: countOf(floor, 'a floor'),
      upTo: upTo as number,
      items: read,
      isCut: cut !== 0,
    }
  })
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw badMessage(`${kindOf(value)} for ${what}`)
}

function listOf(value: unknown, most: number, what: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value
  throw badMessage(`${kindOf(value)} for ${what}`)
}

function countOf(value: unknown, what: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw badMessage(`${kindOf(value)} for ${what}`)
}

function replicaOf(value: unknown): string {
  if (typeof value === 'string' && REPLICA.test(value)) return value
  throw badMessage(`${kindOf(value)} for a replica`)
}

function keyOf(value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_KEY) return value
  throw badMessage(`${kindOf(value)} for a key`)
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= 128) return value
  throw badMessage(`${kindOf(value)} for ${what}`)
}

function badMessage(received: string): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `gossip: expected a message of this release, received ${received}`)
}
