import { read } from '@sluice/fleet/backend'
import type { ControlAction, ControlledMode, ControlTerms } from './control.ts'
import type { StoredControl } from './stored-control.ts'

/** Maximum size of a message. A single larger change is still sent, as a separate message. */
const MAX_BYTES = 65_536
const MAX_LISTED = 100
/** First part of the actions of caps in messages. */
const OF_CAP = 'cap '

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
const undone = fields<Pick<ControlTerms, 'undoneAt' | 'undoneBy'>>({ undoneAt: amount, undoneBy: text })
const limit = read.checked<number>(
  'an integer of at least 1',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
)

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
  const sent = undoneAt !== undefined && 'key' in change ? { ...change, key: '' } : change
  // processes of earlier releases, which cannot change caps, skip actions that they do not know
  return JSON.stringify({
    ...control,
    change: sent.cap === undefined ? sent : { ...sent, action: `${OF_CAP}${sent.action}` },
  })
}

/** Parses the changes of a message and skips actions of later releases. Throws if the message is malformed. */
export function controlsOf(text: string): StoredControl[] {
  return list(JSON.parse(text)).flatMap((value) => stored(value) ?? [])
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
  switch (isOfCap ? action.slice(OF_CAP.length) : action) {
    case 'mode':
      return isMode(mode) ? { action: 'mode', ...target(), mode } : undefined
    case 'limit':
      return { action: 'limit', ...target(), limit: limit(most) }
    case 'block':
      return { action: 'block', key: text(key), ...(isOfCap || policy !== undefined ? target() : {}) }
    case 'reset':
      return { action: 'reset', key: text(key), ...(policy !== undefined && { policy: text(policy) }) }
    default:
      return undefined
  }
}
