import { type Decision, decide } from './decisions.ts'
import { KeyGroups } from './key-groups.ts'
import type { KeyState, KeyStates } from './key-state.ts'
import type { LimitRequest } from './limit-request.ts'
import { WorkingKey } from './working-key.ts'

/** The times of a turn. */
export interface TurnTimes {
  /** Server time of the decisions; undefined if it is unknown, and the turn only reads. */
  readonly now: number | undefined
  /** See `KnownTimes`. */
  readonly lostBefore: number | undefined
  /** Process time. */
  readonly processNow: number
}

/** The requests of one statement, decided for the states that this process has seen last. */
export class Turn {
  readonly requests: readonly LimitRequest[]
  readonly keys: readonly WorkingKey[]
  readonly now: number | undefined
  /** Decision of each request; empty if the turn only reads. */
  readonly decisions: readonly Decision[]
  /** Units that adjustments applied, by id and row. */
  readonly moved: ReadonlyMap<string, number>
  readonly #numbers = new Map<string, number>()
  readonly #groups = new KeyGroups()

  constructor(requests: readonly LimitRequest[], states: KeyStates, { now, lostBefore, processNow }: TurnTimes) {
    this.requests = requests
    this.now = now
    const keys: WorkingKey[] = []
    for (const { names } of requests) {
      for (const name of names) {
        if (!this.#numbers.has(name)) {
          this.#numbers.set(name, keys.length)
          this.#groups.add()
          keys.push(new WorkingKey(name, states.of(name)))
        }
        this.#groups.join(this.#numberOf(names[0]), this.#numberOf(name))
      }
    }
    this.keys = keys
    const moved = new Map<string, number>()
    this.moved = moved
    this.decisions =
      now === undefined
        ? []
        : requests.map((request) =>
            decide({
              request,
              keys: request.names.map((name) => keys[this.#numberOf(name)]),
              times: { now, lostBefore, waitedMs: processNow - request.requestedAt },
              moved,
            }),
          )
  }

  /** Returns the group of a key by its index in `keys`. */
  groupAt(index: number): number {
    return this.#groups.of(index)
  }

  groupOf({ names }: LimitRequest): number {
    return this.#groups.of(this.#numberOf(names[0]))
  }

  groupOfRow(name: string): number {
    return this.#groups.of(this.#numberOf(name))
  }

  /** Groups with a key that requests have changed. */
  get writtenGroups(): ReadonlySet<number> {
    return new Set(this.keys.flatMap(({ isChanged }, index) => (isChanged ? [this.groupAt(index)] : [])))
  }

  /** Returns the states that a successful write has stored, by row. `refused` groups are omitted. */
  *written(version: string, refused: ReadonlySet<number>): Iterable<readonly [string, KeyState]> {
    for (const [index, key] of this.keys.entries()) {
      if (key.isChanged && !refused.has(this.groupAt(index))) yield [key.name, key.stateAs(version)]
    }
  }

  #numberOf(name: string): number {
    return this.#numbers.get(name) as number
  }
}
