import { ABSENT, type KeyState } from './key-state.ts'
import type { LimitRequest } from './limit-request.ts'
import type { Turn } from './turn.ts'

/** Version of a key that is only read. */
const UNREAD = '-1'

export interface TurnValuesOptions {
  /** Version of the rows that are written. */
  readonly version: string
  /** Converts a deadline from process time to server time; undefined if the server checks no times. */
  readonly serverAt: ((at: number) => number | undefined) | undefined
  /** Added to the time for which rows are kept. */
  readonly extraMs: number
  readonly durable: boolean
}

/** Returns the parameters of the function of a turn, see `turnFunction`. */
export function turnValues(turn: Turn, { version, serverAt, extraMs, durable }: TurnValuesOptions): unknown[] {
  const { keys, now } = turn
  const deadlines = deadlinesOf(turn)
  const lifeOf = (key: Turn['keys'][number]): number => (now === undefined ? 0 : Math.ceil(key.lifeMs(now)) + extraMs)
  const adjustments = adjustmentsOf(turn)
  const written = turn.writtenGroups
  return [
    keys.map(({ name }) => name),
    keys.map((_, index) => turn.groupAt(index)),
    keys.map((key) => (now === undefined ? UNREAD : key.version)),
    keys.map((key) => (key.isChanged ? `{${key.stateAs(version).cells.join(',')}}` : null)),
    keys.map((_, index) => written.has(turn.groupAt(index))),
    keys.map((key) => (key.isChanged ? lifeOf(key) : 0)),
    keys.map(({ resetAt }) => resetAt),
    keys.map(({ refundedAt }) => refundedAt),
    keys.map((_, index) => {
      const deadlineAt = deadlines.get(turn.groupAt(index))
      return deadlineAt === undefined ? null : (serverAt?.(deadlineAt) ?? null)
    }),
    serverAt === undefined ? null : (now ?? null),
    version,
    adjustments.map(({ id }) => id),
    adjustments.map(({ name }) => name),
    adjustments.map(({ name }) => turn.groupOfRow(name)),
    adjustments.map(({ moved }) => moved),
    durable,
  ]
}

/** Returns the first deadline of each group. */
function deadlinesOf(turn: Turn): ReadonlyMap<number, number> {
  const deadlines = new Map<number, number>()
  for (const request of turn.requests) {
    if (request.deadlineAt === Number.POSITIVE_INFINITY) continue
    const group = turn.groupOf(request)
    deadlines.set(group, Math.min(request.deadlineAt, deadlines.get(group) ?? request.deadlineAt))
  }
  return deadlines
}

interface Adjustment {
  readonly id: string
  readonly name: string
  readonly moved: number
}

function adjustmentsOf({ moved }: Turn): readonly Adjustment[] {
  return Array.from(moved, ([key, units]) => {
    const at = key.indexOf('\n')
    return { id: key.slice(0, at), name: key.slice(at + 1), moved: units }
  })
}

/** The reply of the function of a turn. */
export class TurnReply {
  readonly now: number
  /** Server time before which counts may have been lost. */
  readonly lostBefore: number
  /** Groups that were not written. */
  readonly refused: ReadonlySet<number>
  readonly #rows: ReadonlyMap<number, KeyState>
  readonly #repeated: readonly (readonly [id: string, name: string, moved: number])[]

  /** Throws if the text is not a reply. */
  constructor(text: string) {
    const { now, since, refused, rows, repeated } = JSON.parse(text)
    if (!(Number.isFinite(now) && Number.isFinite(since))) throw new TypeError('the reply has no time')
    this.now = now
    this.lostBefore = since
    this.refused = new Set(refused ?? [])
    this.#rows = new Map(
      (rows ?? []).map(([place, version, cells, resetAt, refundedAt]: [number, string, number[], number, number]) => [
        place - 1,
        { version, cells: Float64Array.from(cells), resetAt, refundedAt },
      ]),
    )
    this.#repeated = repeated ?? []
  }

  /** Returns the state of a key in a refused group. */
  stateAt(index: number): KeyState {
    return this.#rows.get(index) ?? ABSENT
  }

  /** Returns the units that earlier calls applied with the id of `request`, by row; undefined if there are none. */
  appliedOf({ id }: LimitRequest): ReadonlyMap<string, number> | undefined {
    const own = this.#repeated.filter(([repeated]) => repeated === id)
    return own.length === 0 ? undefined : new Map(own.map(([, name, moved]) => [name, moved]))
  }
}
