import { read } from '@sluice/fleet/backend'
import type { ControlAction, ControlledMode, ControlTerms } from './control.ts'
import type { StoredControl } from './stored-control.ts'

/** Maximum size of a message. A single larger change is still sent, as a separate message. */
const MAX_BYTES = 65_536
const MAX_LISTED = 100
/** First part of the actions of caps in messages. */
const OF_CAP = 'cap '
/** Action of the first item of a message, which contains the time of the message. Earlier releases skip the item. */
const SENT = 'sent'

const { amount, fields, optional } = read
const unread = (value: unknown): unknown => value
const text = read.text(4_096)
const list = read.arrayOf(MAX_LISTED)
const sent = fields({ change: unread, undoneAt: unread })
const changed = fields({ action: unread, policy: unread, cap: unread, mode: unread, limit: unread, key: unread })
const terms = fields<Omit<ControlTerms, 'undoneAt' | 'undoneBy'>>({
  id: text,
  at: amount,
  endsAt: amount,
  by: text,
  reason: optional(text),
})
const time = fields<{ readonly sentAt: number }>({ sentAt: amount })
const undone = fields<Pick<ControlTerms, 'undoneAt' | 'undoneBy'>>({ undoneAt: amount, undoneBy: text })
const limit = read.checked<number>(
  'an integer of at least 1',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
)

/**
 * Serialises changes into as many messages as needed, because channels limit the message size. Receivers merge them in
 * any order. `sentAt`: ms since 1970.
 */
export function controlsTexts(controls: readonly StoredControl[], sentAt: number): string[] {
  const head = JSON.stringify({ change: { action: SENT }, sentAt })
  const messages: string[][] = []
  let bytes = 0
  for (const text of controls.map(messageText)) {
    const own = Buffer.byteLength(text)
    const isFull =
      messages.length === 0 || bytes + own > MAX_BYTES || messages[messages.length - 1].length >= MAX_LISTED - 1
    if (isFull) {
      messages.push([])
      bytes = 0
    }
    messages[messages.length - 1].push(text)
    bytes += own
  }
  return messages.map((texts) => `[${[head, ...texts].join(',')}]`)
}

/** Leaves out the key of an undone change, because receivers no longer need it. */
function messageText(control: StoredControl): string {
  const { change, undoneAt } = control
  const sent = undoneAt !== undefined && 'key' in change ? { ...change, key: '' } : change
  // processes of earlier releases, which cannot change caps, skip actions that they do not know
  return JSON.stringify({
    ...control,
    change: sent.cap === undefined ? sent : { ...sent, action: `${OF_CAP}${sent.action}` },
  })
}

export interface ControlMessage {
  readonly controls: StoredControl[]
  /** When the message was sent, in ms since 1970. Undefined for a message of an earlier release. */
  readonly sentAt: number | undefined
}

/** Parses a message and skips actions of later releases. Throws if the message is malformed. */
export function controlMessage(text: string): ControlMessage {
  const items = list(JSON.parse(text))
  const hasTime = items.length > 0 && changed(sent(items[0]).change).action === SENT
  return {
    controls: items.flatMap((value) => stored(value) ?? []),
    sentAt: hasTime ? time(items[0]).sentAt : undefined,
  }
}

/** Returns undefined for an action of a later release. */
function stored(value: unknown): StoredControl | undefined {
  const { change, undoneAt } = sent(value)
  const known = changeOf(change)
  return known && { ...terms(value), change: known, ...(undoneAt !== undefined && undone(value)) }
}

function isMode(mode: unknown): mode is ControlledMode {
  return mode === 'enforce' || mode === 'shadow' || mode === 'off'
}

function changeOf(value: unknown): ControlAction | undefined {
  const { action, policy, cap, mode, limit: most, key } = changed(value)
  const isOfCap = typeof action === 'string' && action.startsWith(OF_CAP)
  const target = () => (isOfCap ? { cap: text(cap) } : { policy: text(policy) })
  const name = isOfCap ? action.slice(OF_CAP.length) : action
  switch (name) {
    case 'mode':
      return isMode(mode) ? { action: 'mode', ...target(), mode } : undefined
    case 'limit':
      return { action: 'limit', ...target(), limit: limit(most) }
    case 'block':
      return { action: 'block', key: text(key), ...(isOfCap || policy !== undefined ? target() : {}) }
    case 'reset':
    case 'unban':
      return { action: name, key: text(key), ...(policy !== undefined && { policy: text(policy) }) }
    default:
      return undefined
  }
}
