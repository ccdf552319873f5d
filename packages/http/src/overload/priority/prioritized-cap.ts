import type { AcquireOptions, Cap, Clock, Denial, DenialReason, MaybePromise, Permit } from '@sluice/limiter-core'
import { FULL, MemoryInflight, WatchedPermit, WEIGHT_EXCEEDS_LIMIT } from '@sluice/limiter-core/http'
import type { ClientUsage } from './client-usage.ts'
import { COHORTS, levelOf } from './levels.ts'
import type { RejectionThreshold } from './rejection-threshold.ts'
import { WaitingRoom, type WaitingRoomOptions } from './waiting-room.ts'

/** Returns how the requests of a key may wait. */
export type QueueOf = (key: string) => WaitingRoomOptions

export interface PrioritizedCapOptions {
  readonly clock: Clock
  readonly threshold: RejectionThreshold
  readonly usage: ClientUsage
  readonly queueOf: QueueOf | undefined
  readonly maxHoldMs: number | undefined
}

interface Request {
  readonly key: string
  readonly level: number
  readonly weight: number
  readonly options: AcquireOptions
}

interface Room {
  readonly waiting: WaitingRoom
  /** The cap of the last request. */
  cap: Cap | undefined
}

/** Stores the permits of one cap and decides which requests get them when there are too few. */
export class PrioritizedCap {
  readonly #clock: Clock
  readonly #threshold: RejectionThreshold
  readonly #queueOf: QueueOf | undefined
  readonly #permits: MemoryInflight
  readonly #usage: ClientUsage
  // of the keys for which requests wait
  readonly #rooms = new Map<string, Room>()
  #isClosed = false
  #comparesClients = true

  constructor({ clock, threshold, usage, queueOf, maxHoldMs }: PrioritizedCapOptions) {
    this.#clock = clock
    this.#threshold = threshold
    this.#queueOf = queueOf
    this.#usage = usage
    this.#permits = new MemoryInflight({
      limit: Number.MAX_SAFE_INTEGER,
      clock,
      maxHoldMs,
      released: (key) => {
        threshold.completed()
        this.#admitWaiting(key)
      },
    })
  }

  /** Whether the client of a request matters. */
  get comparesClients(): boolean {
    return this.#comparesClients
  }

  count(key: string): number {
    return this.#permits.count(key)
  }

  /** Number of requests that wait. */
  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.#rooms.values()) sum += waiting.size
    return sum
  }

  /** Admits what waits and fits now. Default: for all keys. */
  admitWaiting(key?: string): void {
    for (const one of key === undefined ? this.#rooms.keys() : [key]) this.#admitWaiting(one)
  }

  /** Refuses all that wait. From then on, nothing waits. */
  close(): void {
    this.#isClosed = true
    for (const { waiting } of this.#rooms.values()) waiting.close()
    this.#rooms.clear()
    this.#permits.close()
  }

  acquire(key: string, options: AcquireOptions): MaybePromise<Permit | Denial> {
    const { weight = 1, signal, cap } = options
    if (signal?.aborted) return FULL
    if (options.isApart) return this.#permits.acquire(key, options)
    const limit = limitOf(cap, key)
    if (weight > mostOf(cap, limit)) return WEIGHT_EXCEEDS_LIMIT
    const now = this.#clock.now()
    const level = this.#levelOf(options, (this.#permits.count(key) + weight) * 2 >= limit, now)
    const isRefused = this.#threshold.refuses(level, now)
    const room = this.#roomOf(key, cap)
    const isNext = !room || room.waiting.level < level
    if (isNext && this.#fits(key, level, weight, limit, isRefused)) return this.#hold(key, options)
    if (isRefused) return denialOf(this.#threshold.reasonOf(level))
    const queueOf = this.#isClosed || options.mayWait === false ? undefined : this.#queueOf
    if (queueOf) return this.#wait(room ?? this.#openRoom(key, cap, queueOf(key)), { key, level, weight, options })
    this.#threshold.full(level)
    return FULL
  }

  /** Clients are equal while less than half of the places are held and there was no overload for some time. */
  #levelOf({ priority, client }: AcquireOptions, isHalfFull: boolean, now: number): number {
    const isCalm = this.#threshold.isLongCalm(now)
    this.#comparesClients = isHalfFull || !isCalm
    if (client === undefined) return levelOf(priority, COHORTS - 1)
    if (isCalm) this.#usage.asked(client)
    return levelOf(priority, this.#comparesClients ? this.#usage.cohortOf(client) : COHORTS - 1)
  }

  #fits(key: string, level: number, weight: number, limit: number, isRefused: boolean): boolean {
    const held = this.#permits.count(key)
    if (held === 0) return weight <= limit
    const room = this.#queueOf && !isRefused ? 0 : this.#threshold.roomAbove(level, isRefused)
    return held + weight + Math.ceil(limit * room) <= limit
  }

  #roomOf(key: string, cap: Cap | undefined): Room | undefined {
    const room = this.#rooms.get(key)
    if (!room) return undefined
    room.cap = cap
    // the limit may have grown
    this.#admitWaiting(key)
    return this.#rooms.get(key)
  }

  #openRoom(key: string, cap: Cap | undefined, queue: WaitingRoomOptions): Room {
    const room = { cap, waiting: new WaitingRoom(queue, this.#clock) }
    this.#rooms.set(key, room)
    return room
  }

  #wait(room: Room, { key, level, weight, options }: Request): Promise<Permit | Denial> {
    return new Promise((resolve) => {
      const { signal } = options
      let remove = (): void => {}
      const leave = (): void => {
        remove()
        end(FULL)
        // a lighter one may fit where this one did not
        this.#admitWaiting(key)
      }
      const end = (answer: Permit | Denial): void => {
        signal?.removeEventListener('abort', leave)
        if (room.waiting.size === 0 && this.#rooms.get(key) === room) this.#rooms.delete(key)
        resolve(answer)
      }
      const refuse = (reason: DenialReason): void => {
        this.#threshold.full(level)
        end(denialOf(reason))
        // one whose weight exceeds the limit is refused while the next one is looked for
        if (reason !== 'weight') this.#admitWaiting(key)
      }
      signal?.addEventListener('abort', leave, { once: true })
      remove = room.waiting.add({ level, weight, admit: () => end(this.#hold(key, options)), refuse })
    })
  }

  #admitWaiting(key: string): void {
    const room = this.#rooms.get(key)
    if (!room) return
    for (;;) {
      const limit = limitOf(room.cap, key)
      const waiter = room.waiting.next(limit - this.#permits.count(key), mostOf(room.cap, limit))
      if (!waiter) return
      waiter.admit()
    }
  }

  #hold(key: string, options: AcquireOptions): Permit | Denial {
    const { weight, signal, client } = options
    // without the cap, whose limit may have changed since the request arrived
    const permit = this.#permits.acquire(key, { weight, signal })
    if (client === undefined || 'allowed' in permit || !this.#comparesClients) return permit
    const account = this.#usage.began(client)
    return new WatchedPermit(permit, this.#clock, (heldMs) => this.#usage.ended(account, heldMs))
  }
}

function limitOf(cap: Cap | undefined, key: string): number {
  return cap?.limitOf?.(key) ?? cap?.limit ?? Number.MAX_SAFE_INTEGER
}

/** Largest weight that may fit at some time. */
function mostOf(cap: Cap | undefined, limit: number): number {
  return Math.max(cap?.maxWeight ?? 0, limit)
}

function denialOf(reason: DenialReason): Denial {
  return { ...FULL, reason }
}
