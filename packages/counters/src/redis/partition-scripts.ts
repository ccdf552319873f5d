import { randomBytes } from 'node:crypto'
import type { CounterReading } from '@sluice/fleet/backend'
import type { Clock, Script, ScriptRunner } from '@sluice/limiter-core'
import type { LedgerEntry } from '../ledger/counter-ledger.ts'
import { idOf, storedId } from '../ledger/stored-id.ts'
import {
  clearScript,
  closeScript,
  countScript,
  finishScript,
  owedScript,
  renewScript,
  seedScript,
} from '../lua/scripts.ts'
import type { Owed } from '../metrics/owed-metrics.ts'
import { asSluiceError, unavailableError, withTimeout } from '../unavailable.ts'
import type { PartitionKeys } from './partition-keys.ts'

/**
 * Time for which a call is remembered. A repeated call cannot arrive later, because its connection has long been
 * closed.
 */
const REMEMBERED_MS = 120_000

const OUTCOMES: readonly CountOutcome[] = ['counted', 'missing', 'range', 'full']
/** 15 random bytes in base64url. */
const EPOCH = /^[\w-]{20}$/

export interface PartitionScriptsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: PartitionKeys
  readonly expireMs: number
  /** Maximum number of ids with units that are in no finished batch. */
  readonly maxOwed: number
  readonly waitMs: number
}

/** Units by id that are counted all or none. A request in which all units are 0 is a read. */
export type CountRequest = ReadonlyMap<string, number>

/**
 * `missing` if the total of one of the ids is not in Redis, `range` if a value would leave its range, `full` if too
 * many ids wait for the ledger.
 */
export type CountOutcome = 'counted' | 'missing' | 'range' | 'full'

export interface CountAnswer {
  readonly epoch: string
  /** Outcomes of the requests, in their order. */
  readonly outcomes: readonly CountOutcome[]
  /** Readings of ids whose total is in Redis. */
  readonly readings: ReadonlyMap<string, CounterReading>
}

/** Identifies a batch by its epoch and number. */
export interface BatchRef {
  readonly epoch: string
  readonly number: number
}

export interface ClosedBatch extends BatchRef {
  /** Age of its oldest unit in ms. */
  readonly ageMs: number
  /** Whether the call closed the batch, so that it includes all units pending at that time. */
  readonly isFresh: boolean
  readonly amounts: ReadonlyMap<string, number>
}

/** Runs the Lua scripts of one partition. */
export class PartitionScripts {
  readonly #options: PartitionScriptsOptions

  constructor(options: PartitionScriptsOptions) {
    this.#options = options
  }

  /** Counts requests. Returns undefined if a batch must be finished first. */
  async count(requests: readonly CountRequest[]): Promise<CountAnswer | undefined> {
    const { keys, expireMs, maxOwed } = this.#options
    const ids = [...new Set(requests.flatMap((request) => [...request.keys()]))]
    const indexes = new Map(ids.map((id, index) => [id, index + 1]))
    const pairs = requests.flatMap((request) => [
      request.size,
      ...Array.from(request, ([id, amount]) => [indexes.get(id) ?? 0, amount]).flat(),
    ])
    const isRead = requests.every((request) => Array.from(request.values()).every((amount) => amount === 0))
    const nonce = randomBytes(12).toString('base64url')
    const reply = await this.#run(
      countScript,
      [keys.call(nonce), ...ids.map((id) => keys.entry(id))],
      [
        isRead ? 0 : REMEMBERED_MS,
        expireMs,
        maxOwed,
        Number.MAX_SAFE_INTEGER,
        ids.length,
        ...ids.map(storedId),
        ...pairs,
      ],
    )
    if (reply[0] === 'unfinished') return undefined
    if (reply[0] === 'repeated') throw unknownOutcome()
    if (reply.length !== 1 + requests.length + 3 * ids.length) throw unreadable()
    return {
      epoch: epochIn(reply[0]),
      outcomes: reply.slice(1, 1 + requests.length).map(outcomeIn),
      readings: new Map(ids.flatMap((id, index) => readingOf(id, reply, 1 + requests.length + 3 * index))),
    }
  }

  /**
   * Returns the batch to hand over, `none` if there are no units to hand over, or `busy` if another process is handing
   * a batch over.
   */
  async close(options: {
    readonly heldMs: number
    readonly isUrgent: boolean
  }): Promise<ClosedBatch | 'none' | 'busy'> {
    const reply = await this.#run(closeScript, [], [options.heldMs, options.isUrgent ? 1 : 0])
    const [kind, epoch, number, ageMs, fresh, amounts] = reply
    if (kind === 'none' || kind === 'busy') return kind
    // units of a reply that belongs to another call would be counted in the ledger
    if (kind !== 'batch' || !Array.isArray(amounts) || amounts.length % 2 !== 0) throw unreadable()
    return {
      epoch: epochIn(epoch),
      number: countIn(number),
      ageMs: countIn(ageMs),
      isFresh: fresh === '1',
      amounts: amountsOf(amounts),
    }
  }

  /** Removes a batch that the ledger has applied and stores the totals that include it. */
  async finish({ epoch, number }: BatchRef, entries: readonly LedgerEntry[]): Promise<void> {
    const args = [this.#options.expireMs, epoch, number, ...entries.flatMap(argsOf)]
    await this.#run(finishScript, this.#keysOf(entries), args)
  }

  /**
   * Stores totals that include the batches of the epoch up to this one. Returns `unfinished` if a batch must be
   * finished first, or the current epoch if the totals are outdated.
   */
  async seed(
    { epoch, number }: BatchRef,
    entries: readonly LedgerEntry[],
  ): Promise<'seeded' | 'unfinished' | { readonly epoch: string }> {
    const args = [this.#options.expireMs, epoch, number, ...entries.flatMap(argsOf)]
    const [kind, current] = await this.#run(seedScript, this.#keysOf(entries), args)
    if (kind === 'again') return { epoch: epochIn(current) }
    if (kind !== 'seeded' && kind !== 'unfinished') throw unreadable()
    return kind
  }

  /** Begins a new epoch after `epoch`, unless units of it are waiting. Returns the current epoch. */
  async renew(epoch: string): Promise<string> {
    const [current] = await this.#run(renewScript, [], [epoch])
    return epochIn(current)
  }

  /** Returns the units of this partition that the ledger does not have. */
  async owed(): Promise<Owed> {
    const [ids, ageMs, auditDifference] = await this.#run(owedScript, [], [])
    return { ids: countIn(ids), ageMs: countIn(ageMs), auditDifference: countIn(auditDifference) }
  }

  /** Drops the pending units and the total of an id. Returns false if a batch must be finished first. */
  async clear(id: string): Promise<boolean> {
    const [kind] = await this.#run(clearScript, [this.#options.keys.entry(id)], [storedId(id)])
    if (kind !== 'cleared' && kind !== 'unfinished') throw unreadable()
    return kind === 'cleared'
  }

  #keysOf(entries: readonly LedgerEntry[]): string[] {
    return entries.map(({ id }) => this.#options.keys.entry(id))
  }

  async #run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly unknown[]> {
    const { runner, clock, keys: names, waitMs } = this.#options
    const epoch = randomBytes(15).toString('base64url')
    const options = { deadlineAt: clock.now() + waitMs }
    const answer = runner.run(script, [...names.fixed, ...keys], [epoch, ...args], options).catch((error: unknown) => {
      throw asSluiceError('Redis', error)
    })
    const late = (): Error => unavailableError(`Redis did not reply within ${waitMs} ms`)
    const reply = await withTimeout(answer, { clock, waitMs, late })
    return Array.isArray(reply) ? reply : [reply]
  }
}

/** Parses a hash returned by a script, in which names and values alternate. */
function amountsOf(flat: readonly unknown[]): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>()
  for (let at = 0; at < flat.length; at += 2) {
    amounts.set(idOf(String(flat[at])), integerIn(flat[at + 1]))
  }
  return amounts
}

function argsOf({ value, version, updatedAt }: LedgerEntry): (string | number)[] {
  return [value, version, updatedAt ?? '']
}

/** Returns the reading of an id; empty if its total is not in Redis. */
function readingOf(id: string, reply: readonly unknown[], at: number): [string, CounterReading][] {
  const [value, version, updatedAt] = reply.slice(at, at + 3)
  if (value === '') return []
  const time = updatedAt === '' ? undefined : timeIn(updatedAt)
  return [[id, { id, value: integerIn(value), version: countIn(version), updatedAt: time }]]
}

/** Outcome, epoch or number in a reply. All of these functions throw for a field that no script returns. */
function outcomeIn(field: unknown): CountOutcome {
  const known = OUTCOMES.find((outcome) => outcome === field)
  if (known === undefined) throw unreadable()
  return known
}

function epochIn(field: unknown): string {
  if (typeof field === 'string' && EPOCH.test(field)) return field
  throw unreadable()
}

function integerIn(field: unknown): number {
  const number = typeof field === 'string' && field !== '' ? Number(field) : field
  if (Number.isSafeInteger(number)) return number as number
  throw unreadable()
}

function countIn(field: unknown): number {
  const number = integerIn(field)
  if (number >= 0) return number
  throw unreadable()
}

/** A time in ms, which ledgers may store with a fraction. */
function timeIn(field: unknown): number {
  const number = Number(field)
  if (typeof field !== 'object' && Number.isFinite(number)) return number
  throw unreadable()
}

function unreadable(): Error {
  return unavailableError('the reply of Redis has an unexpected format; the call may have been applied')
}

function unknownOutcome(): Error {
  return unavailableError(
    'increment: the connection to Redis broke before the reply; the increment may have been counted',
  )
}
