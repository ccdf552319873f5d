import { read } from '@sluice/fleet/backend'
import { SluiceError } from '@sluice/limiter-core/backend'
import type { Clocks, LogPart, SentItem } from '../log/replica-table.ts'

/** Maximum size of a message in bytes, including its seal. */
export const MAX_MESSAGE_BYTES = 262_144
/** Maximum number of clocks, and of parts, in one message. */
const MAX_REPLICAS = 10_000
const REPLICA = /^[\w-]{1,32}$/
const MAX_KEY = 1_024
/** Bytes of a clock besides its digits and the name of its log. */
const PAIR_BYTES = 6
/** Maximum size of an item as JSON: it must fit in a message beside the clocks of a large fleet. */
const MAX_ITEM_BYTES = 32_768
/** Maximum nesting of a value: `JSON.stringify` of a message needs more of the stack than that of the value alone. */
const MAX_DEPTH = 32

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
  /** Clocks of the ask up to which the answering replica does not accept the logs. Earlier releases omit them. */
  readonly unwanted: Clocks
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

const replica = read.checked<string>(
  'the name of a replica',
  (value) => typeof value === 'string' && REPLICA.test(value),
)
const word = read.text(128)
const replicas = read.arrayOf(MAX_REPLICAS)
const itemList = read.arrayOf(MAX_MESSAGE_BYTES)
const pairFields = read.arrayOf(2)
const partFields = read.arrayOf(6)
const itemFields = read.arrayOf(4)

const head = read.fields({ v: read.count, kind: read.oneOf('ask', 'answer', 'push', 'done') })
const common = { from: replica, nonce: word }
const pushed = { ...common, ticket: word, parts: partsOf }
const messages: { readonly [K in GossipMessage['kind']]: read.Reader<GossipMessage> } = {
  ask: read.fields<AskMessage>({ kind: read.oneOf('ask'), ...common, clocks: clocksOf, cursors: optionalClocks }),
  answer: read.fields<AnswerMessage>({
    kind: read.oneOf('answer'),
    ...pushed,
    clocks: clocksOf,
    unwanted: optionalClocks,
  }),
  push: read.fields<PushMessage>({ kind: read.oneOf('push'), ...pushed }),
  done: read.fields<DoneMessage>({ kind: read.oneOf('done'), ...common }),
}

/**
 * Returns the number of bytes of an item in a message. Throws `SLUICE_BAD_MESSAGE` for a key or value that a message
 * cannot contain.
 */
export function itemBytes(key: unknown, value: unknown): number {
  const json = typeof key === 'string' && key.length <= MAX_KEY ? jsonOf([key, value]) : undefined
  const bytes = json === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(json)
  if (bytes > MAX_ITEM_BYTES)
    throw badMessage(
      `expected a key of at most ${MAX_KEY} characters, and at most ${MAX_ITEM_BYTES} bytes with its value`,
    )
  if (!isShallow(value, MAX_DEPTH)) throw badMessage(`expected a value that is nested at most ${MAX_DEPTH} times`)
  return bytes
}

/** Returns the number of bytes of clocks in a message. */
export function clocksBytes(clocks: Iterable<readonly [replica: string, clock: number]>): number {
  let bytes = 0
  for (const [name, clock] of clocks) bytes += name.length + String(clock).length + PAIR_BYTES
  return bytes
}

/** Returns the first of the given clocks that take at most `maxBytes` in a message. */
export function clocksWithin(clocks: Iterable<readonly [string, number]>, maxBytes: number): Clocks {
  const taken = new Map<string, number>()
  let room = maxBytes
  for (const [name, clock] of clocks) {
    room -= clocksBytes([[name, clock]])
    if (room < 0) break
    taken.set(name, clock)
  }
  return taken
}

/** Encodes a message as JSON, with short names, and arrays for repeated data. */
export function encoded(message: GossipMessage): string {
  const { kind, from, nonce } = message
  const clocks = 'clocks' in message ? { clocks: [...message.clocks] } : {}
  const cursors = kind === 'ask' && message.cursors.size > 0 ? { cursors: [...message.cursors] } : {}
  const unwanted = kind === 'answer' && message.unwanted.size > 0 ? { unwanted: [...message.unwanted] } : {}
  const parts = 'parts' in message ? { parts: message.parts.map(partJson) } : {}
  const ticket = 'ticket' in message ? { ticket: message.ticket } : {}
  return JSON.stringify({ v: 1, kind, from, nonce, ...ticket, ...clocks, ...cursors, ...unwanted, ...parts })
}

/** Decodes a message. Throws `SLUICE_BAD_MESSAGE` for a message that `encoded` does not write. */
export function decoded(text: string): GossipMessage {
  const body = parsed(text)
  try {
    const { v, kind } = head(body)
    if (v !== 1) throw badMessage('expected a message of version 1')
    return messages[kind](body)
  } catch (error) {
    throw error instanceof read.MalformedMessage ? badMessage(error.message) : error
  }
}

function partJson({ replica, base, floor, upTo, items, isCut }: LogPart): unknown[] {
  const sent = items.map(({ clock, key, value, ageMs }) => [clock, ageMs, key, value])
  const rest = base > 0 ? [isCut ? 1 : 0, base] : isCut ? [1] : []
  return [replica, floor, upTo, sent, ...rest]
}

function clocksOf(value: unknown): Clocks {
  const pairs = replicas(value).map((pair) => {
    const [name, clock] = pairFields(pair)
    return [replica(name), read.count(clock)] as const
  })
  return new Map(pairs)
}

function optionalClocks(value: unknown = []): Clocks {
  return clocksOf(value)
}

function partsOf(value: unknown): LogPart[] {
  return replicas(value).map((part) => {
    const [name, floor, end, sent, cut = 0, base = 0] = partFields(part)
    const upTo = read.count(end)
    const items = sentItems(sent, upTo)
    return { replica: replica(name), base: read.count(base), floor: read.count(floor), upTo, items, isCut: cut !== 0 }
  })
}

function sentItems(value: unknown, upTo: number): SentItem[] {
  let last = 0
  return itemList(value).map((item) => {
    const [clock, ageMs, key, content] = itemFields(item)
    const previous = last
    last = read.count(clock)
    if (last <= previous || last > upTo)
      throw new read.MalformedMessage('ascending clocks up to the end of a part', clock)
    const bytes = itemBytes(key, content)
    return { clock: last, ageMs: read.count(ageMs), key: key as string, value: content, bytes }
  })
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1))
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
    throw badMessage('expected JSON')
  }
}

function badMessage(problem: string): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `gossip: ${problem}`)
}
