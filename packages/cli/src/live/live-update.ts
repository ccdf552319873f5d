import { any, fields, list, number, numberOrNull, optional, text, textOrNull, time } from './shape.ts'

/** The parts of an update of the live page that a terminal shows. Times are in ms. */
export interface LiveUpdate {
  /** Time of the update, since 1970. */
  readonly at: number
  readonly isWholeFleet: boolean
  readonly processes: readonly unknown[]
  readonly ratePerSecond: { readonly now: number }
  readonly deniedShare: number
  readonly policies: readonly LivePolicy[]
  readonly caps: readonly LiveCap[]
  /** Absent in updates of older releases. */
  readonly sheds?: readonly LiveShed[]
  readonly backends: readonly LiveBackend[]
  readonly controls: readonly unknown[]
}

export interface LivePolicy {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly unit: string
  readonly modes: { readonly enforce: number; readonly shadow: number }
  readonly perSecond: { readonly allowed: number; readonly denied: number; readonly shadowDenied: number }
  readonly nearest?: { readonly key: string; readonly usedShare: number }
  readonly topAllowed: readonly LiveKey[]
  readonly topDenied: readonly LiveKey[]
}

/** A key as the page displays it. */
export interface LiveKey {
  readonly key: string
  readonly count: number
  readonly error: number
}

export interface LiveCap {
  readonly name: string
  readonly limit: number
  readonly held: number
  readonly peak: number
  readonly denied: number
  readonly holdMs: { readonly p50: number | null; readonly p99: number | null }
  /** Absent, like `byPriority`, in updates of older releases. */
  readonly waiting?: number
  readonly byPriority?: readonly { readonly priority: string; readonly perSecond: { readonly denied: number } }[]
}

export interface LiveShed {
  readonly policy: string
  readonly byPriority: readonly { readonly priority: string; readonly perSecond: number; readonly shed: number }[]
  readonly pressure: number | null
  readonly signal: string | null
}

export interface LiveBackend {
  readonly name: string
  readonly state: string
  readonly sinceMs: number
  readonly lastError: string | null
}

const key = fields({ key: text, count: number, error: number })
const policy = fields({
  ...{ name: text, limit: number, windowMs: number, unit: text },
  modes: fields({ enforce: number, shadow: number }),
  perSecond: fields({ allowed: number, denied: number, shadowDenied: number }),
  nearest: optional(fields({ key: text, usedShare: number })),
  topAllowed: list(key),
  topDenied: list(key),
})
const cap = fields({
  ...{ name: text, limit: number, held: number, peak: number, denied: number },
  holdMs: fields({ p50: numberOrNull, p99: numberOrNull }),
  waiting: optional(number),
  byPriority: optional(list(fields({ priority: text, perSecond: fields({ denied: number }) }))),
})
const shed = fields({
  ...{ policy: text, pressure: numberOrNull, signal: textOrNull },
  byPriority: list(fields({ priority: text, perSecond: number, shed: number })),
})
const update = fields({
  ...{ at: time, deniedShare: number, isWholeFleet: any, processes: list(any), controls: list(any) },
  ratePerSecond: fields({ now: number }),
  policies: list(policy),
  caps: list(cap),
  sheds: optional(list(shed)),
  backends: list(fields({ name: text, state: text, sinceMs: number, lastError: textOrNull })),
})

/** Returns the update in a text; undefined if the text is not one of this release. */
export function parseUpdate(data: string): LiveUpdate | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return update(value) ? (value as LiveUpdate) : undefined
  } catch {
    return undefined
  }
}
