import {
  answeredBy,
  answerOfNumbers,
  givenUpAt,
  type RemoteRequest,
  type Row,
  type ServerState,
  settle,
  stillWanted,
  TurnBatch,
} from '@sluice/fleet/backend'
import { type Answer, type Clock, KEEP_ALIVE, type Observers } from '@sluice/limiter-core/backend'
import type { CheckedStore } from './checked-store.ts'
import { type GroupLimits, type RequestGroup, RequestGroups } from './request-groups.ts'
import { type DecidedRequests, decideOnRows } from './row-decisions.ts'
import type { StoreClock } from './store-clock.ts'
import {
  conflictFailure,
  failureOf,
  invalidRow,
  lateFailure,
  type StoreFailure,
  tooManyRows,
  unansweredFailure,
} from './store-failure.ts'
import { type StoreRequest, storeRequest } from './store-request.ts'

export interface StoreCallsOptions {
  readonly store: CheckedStore
  readonly server: ServerState
  readonly time: StoreClock
  readonly clock: Clock
  readonly prefix: string
  readonly limits: GroupLimits
  /** Time in ms for which rows are kept longer than needed. */
  readonly extraTtlMs: number
  readonly random: () => number
  readonly observers: Observers
  /** Name of the backend, for decisions. */
  readonly source: string
}

/** Requests to decide again after a pause. */
interface Retry {
  readonly requests: readonly StoreRequest[]
  readonly pauseMs: number
}

/** Time in ms after which a request without a deadline is not decided again. */
const CALL_MS = 4_000
/** Longest time in ms before the first repetition of a refused write. It doubles with each repetition. */
const FIRST_PAUSE_MS = 2
const MAX_PAUSE_MS = 64
/** Time in ms by which a timer may be late. */
const TIMER_MS = 2

/**
 * Calls of a store. Requests for the same rows are decided together, with one read and one write. Requests that arrive
 * meanwhile for these rows wait for the next group; requests for other rows do not wait.
 */
export class StoreCalls {
  readonly #options: StoreCallsOptions
  readonly #turn: TurnBatch<StoreRequest> = new TurnBatch(() => this.#start())
  readonly #inUse = new Set<string>()
  #waiting: readonly StoreRequest[] = []
  #requests = 0

  constructor(options: StoreCallsOptions) {
    this.#options = options
  }

  /** Queues a request, or rejects it if it needs more rows than the store writes at once. */
  add(remote: RemoteRequest): void {
    const request = storeRequest(remote, this.#requests++)
    const { maxRows } = this.#options.limits
    if (request.rows.length > maxRows) request.reject(tooManyRows(request.rows.length, maxRows))
    else this.queue(request)
  }

  /** Queues a request whose rows are known. */
  queue(request: StoreRequest): void {
    this.#turn.add(request)
  }

  /** Sends all requests whose rows are free. */
  #start(): void {
    const { clock, limits } = this.#options
    const requests = stillWanted([...this.#waiting, ...this.#turn.take()], clock.now(), expiredFailure)
    const grouped = new RequestGroups(requests, (row) => this.#inUse.has(row), limits)
    this.#waiting = grouped.waiting
    for (const group of grouped.groups()) {
      for (const row of group.rows) this.#inUse.add(row)
      void this.#decide(group, clock.now()).then((retry) => this.#finish(group, retry))
    }
  }

  /** Frees the rows of a group, after a pause if other processes have changed them. */
  #finish(group: RequestGroup, retry: Retry | undefined): void {
    const free = (): void => {
      for (const row of group.rows) this.#inUse.delete(row)
      this.#waiting = [...(retry?.requests ?? []), ...this.#waiting]
      if (this.#waiting.length > 0) this.#turn.schedule()
    }
    if (retry && retry.pauseMs > 0) this.#options.clock.after(retry.pauseMs, free, KEEP_ALIVE)
    else free()
  }

  /** Never rejects. Returns what to decide again. */
  async #decide({ requests, rows }: RequestGroup, startedAt: number): Promise<Retry | undefined> {
    const { clock, server, time } = this.#options
    let wanted: readonly StoreRequest[] = requests
    let isWriting = false
    try {
      const until = givenUpAt(requests, startedAt)
      const found = await answeredBy(this.#read([...rows]), until, clock, () => unansweredFailure(false))
      wanted = stillWanted(requests, clock.now(), expiredFailure)
      if (wanted.length === 0) return undefined
      const decided = this.#decided(wanted, found)
      isWriting = true
      const isWritten = await this.#written(decided, until)
      time.answered()
      if (!isWritten) return this.#retry(wanted, clock.now() - startedAt)
      this.#settle(wanted, decided)
    } catch (error) {
      const failure = failureOf(error, isWriting)
      if (failure.code !== 'REPLY') server.failed()
      for (const request of wanted) request.reject(failure)
    }
    return undefined
  }

  async #read(rows: readonly string[]): Promise<Map<string, Row | undefined>> {
    const { store, time } = this.#options
    const [found] = await Promise.all([store.read(rows.map(this.#storedKey)), time.ready()])
    return new Map(rows.map((row, index) => [row, found[index]]))
  }

  #decided(requests: readonly StoreRequest[], rows: ReadonlyMap<string, Row | undefined>): DecidedRequests {
    const { clock, time } = this.#options
    const toStoreTime = (processAt: number): number => time.at(processAt)
    return decideOnRows(requests, rows, { now: time.at(clock.now()), toStoreTime, storedKey: this.#storedKey })
  }

  async #written({ changes, ttlMs }: DecidedRequests, until: number): Promise<boolean> {
    if (changes.length === 0) return true
    const { store, clock, extraTtlMs } = this.#options
    return answeredBy(store.write(changes, ttlMs + extraTtlMs), until, clock, () => unansweredFailure(true))
  }

  readonly #storedKey = (row: string): string => this.#options.prefix + row

  /**
   * Returns the requests whose deadline allows another attempt, and rejects the others now: their failure concerns one key,
   * unlike a missing answer at the deadline. The pause is random, so that processes do not repeat writes at the same time.
   */
  #retry(requests: readonly StoreRequest[], attemptMs: number): Retry | undefined {
    const now = this.#options.clock.now()
    const lastStartOf = ({ deadlineAt, requestedAt }: StoreRequest): number =>
      (deadlineAt ?? requestedAt + CALL_MS) - attemptMs - TIMER_MS
    const leftMs = Math.max(...requests.map(lastStartOf)) - now
    const conflicts = Math.max(...requests.map((request) => request.conflicts))
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** conflicts, leftMs / 2)
    const pauseMs = Math.max(0, this.#options.random() * longestMs)
    const again = requests.filter((request) => {
      request.conflicts++
      const isInTime = lastStartOf(request) > now + pauseMs
      if (!isInTime) request.reject(conflictFailure(request.conflicts))
      return isInTime
    })
    return again.length > 0 ? { requests: again, pauseMs } : undefined
  }

  #settle(requests: readonly StoreRequest[], { numbers, now }: DecidedRequests): void {
    const { source, observers } = this.#options
    let at = 0
    const next = (request: StoreRequest, moved: (charge: number, units: number) => void): Answer | StoreFailure => {
      const answer = numbers[at++]
      return (answer && answerOfNumbers(answer, request, { now, source, moved })) ?? invalidRow()
    }
    settle(requests, { next }, observers)
  }
}

/** Creates the failure of a request whose deadline passed before the store was called, perhaps once more. */
function expiredFailure({ conflicts }: StoreRequest): Error {
  return conflicts > 0 ? conflictFailure(conflicts) : lateFailure()
}
