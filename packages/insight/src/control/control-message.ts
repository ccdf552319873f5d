import type { ControlAction } from './control.ts'
import type { StoredControl } from './stored-control.ts'

type Fields = Readonly<Record<string, unknown>>

const LONGEST_TEXT = 4_096
/** Maximum size of a message. A single larger change is still sent, as a separate message. */
const MAX_BYTES = 65_536
const MAX_LISTED = 100

/**
 * Serialises changes into as many messages as needed, because channels limit the message size. Receivers merge them in
 * any order.
 */
export function controlsTexts(controls: readonly StoredControl[]): string[] {
  const messages: string[][] = []
  let bytes = 0
  for (const text of controls.map(messageText)) {
    const own = Buffer.byteLength(text)
    const isFull =
      messages.length === 0 || bytes + own > MAX_BYTES || messages[messages.length - 1].length >= MAX_LISTED
    if (isFull) {
      messages.push([])
      bytes = 0
    }
    messages[messages.length - 1].push(text)
    bytes += own
  }
  return messages.map((texts) => `[${texts.join(',')}]`)
}

/** Leaves out the key of an undone change, because receivers no longer need it. */
function messageText(control: StoredControl): string {
  const { change, undoneAt } = control
  return JSON.stringify(
    undoneAt !== undefined && 'key' in change ? { ...control, change: { ...change, key: '' } } : control,
  )
}

/** Parses the changes of a message and skips actions of later releases. Throws if the message is malformed. */
export function controlsOf(text: string): StoredControl[] {
  const list: unknown = JSON.parse(text)
  if (!Array.isArray(list) || list.length > MAX_LISTED)
    throw new Error(`expected an array of at most ${MAX_LISTED} changes`)
  return list.flatMap((value) => stored(fieldsOf(value)) ?? [])
}

/** Returns undefined for an action of a later release. */
function stored(fields: Fields): StoredControl | undefined {
  const change = changeOf(fieldsOf(fields.change))
  return (
    change && {
      id: text(fields.id),
      change,
      at: time(fields.at),
      endsAt: time(fields.endsAt),
      by: text(fields.by),
      ...(fields.reason !== undefined && { reason: text(fields.reason) }),
      ...(fields.undoneAt !== undefined && { undoneAt: time(fields.undoneAt), undoneBy: text(fields.undoneBy) }),
    }
  )
}

function changeOf({ action, policy, mode, limit, key }: Fields): ControlAction | undefined {
  switch (action) {
    case 'mode':
      return mode === 'shadow' || mode === 'off' ? { action, policy: text(policy), mode } : undefined
    case 'limit':
      return { action, policy: text(policy), limit: whole(limit) }
    case 'block':
    case 'reset':
      return { action, key: text(key), ...(policy !== undefined && { policy: text(policy) }) }
    default:
      return undefined
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error('expected an object')
  return value as Fields
}

function text(value: unknown): string {
  if (typeof value === 'string' && value.length <= LONGEST_TEXT) return value
  throw new Error(`expected a string of at most ${LONGEST_TEXT} characters`)
}

function time(value: unknown): number {
  if (Number.isFinite(value)) return value as number
  throw new Error('expected a finite number')
}

function whole(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 1) return value as number
  throw new Error('expected an integer of at least 1')
}
