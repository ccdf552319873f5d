import { randomBytes } from 'node:crypto'
import type { Clock, CounterReading, Script, ScriptRunner } from '@sluice/limiter-core'
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
import { answeredWithin, failureOf, unanswered } from '../unanswered.ts'
import type { PartitionKeys } from './partition-keys.ts'

/** A call that arrives later than that was sent by a connection that is long gone. */
const REMEMBERED_MS = 120_000

export interface PartitionScriptsOptions {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly keys: PartitionKeys
  readonly expireMs: number
  /** Most ids of which no finished batch has all. */
  readonly maxOwed: number
  readonly waitMs: number
}

/** Units of ids that count together or not at all; of 0 units alone it is a read. */
export type CountRequest = ReadonlyMap<string, number>

/** `missing` where the total of one of its ids is not known. */
export type CountOutcome = 'counted' | 'missing' | 'range' | 'full'

export interface CountAnswer {
  readonly epoch: string
  /** In the order of the requests. */
  readonly outcomes: readonly CountOutcome[]
  /** Of ids of which the total is known. */
  readonly readings: ReadonlyMap<string, CounterReading>
}

/** A batch of an epoch, named by its number. */
export interface BatchRef {
  readonly epoch: string
  readonly number: number
}

export interface ClosedBatch extends BatchRef {
  /** How long ago its first unit was counted. */
  readonly ageMs: number
  /** Whether it has all that was pending. */
  readonly isFresh: boolean
  readonly amounts: ReadonlyMap<string, number>
}

/** The scripts of one partition. */
export class PartitionScripts {
  readonly #options: PartitionScriptsOptions

  constructor(options: PartitionScriptsOptions) {
    this.#options = options
  }

  /** Undefined where a batch must be finished first. */
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
    if (reply[0] === 'repeated') throw unsure()
    return {
      epoch: String(reply[0]),
      outcomes: reply.slice(1, 1 + requests.length) as CountOutcome[],
      readings: new Map(ids.flatMap((id, index) => readingOf(id, reply, 1 + requests.length + 3 * index))),
    }
  }

  /** The batch to hand over; `none` where nothing is owed, `busy` where another process does that. */
  async close(options: {
    readonly heldMs: number
    readonly isUrgent: boolean
  }): Promise<ClosedBatch | 'none' | 'busy'> {
    const reply = await this.#run(closeScript, [], [options.heldMs, options.isUrgent ? 1 : 0])
    const [kind, epoch, number, ageMs, fresh, amounts] = reply
    if (kind === 'none' || kind === 'busy') return kind
    return {
      epoch: String(epoch),
      number: Number(number),
      ageMs: Number(ageMs),
      isFresh: fresh === '1',
      amounts: amountsOf(amounts as readonly unknown[]),
    }
  }

  /** Takes over what the ledger has with this batch. */
  async finish({ epoch, number }: BatchRef, entries: readonly LedgerEntry[]): Promise<void> {
    const args = [this.#options.expireMs, epoch, number, ...entries.flatMap(argsOf)]
    await this.#run(finishScript, this.#keysOf(entries), args)
  }

  /**
   * Takes over what the ledger has with the batches of this epoch up to this one. `unfinished` where a batch must be finished
   * first; the epoch to ask for where they are older than what is finished.
   */
  async seed(
    { epoch, number }: BatchRef,
    entries: readonly LedgerEntry[],
  ): Promise<'seeded' | 'unfinished' | { readonly epoch: string }> {
    const args = [this.#options.expireMs, epoch, number, ...entries.flatMap(argsOf)]
    const [kind, current] = await this.#run(seedScript, this.#keysOf(entries), args)
    return kind === 'again' ? { epoch: String(current) } : (kind as 'seeded' | 'unfinished')
  }

  /** Begins a new epoch after this one, unless something of it waits. Answers the present one. */
  async renew(epoch: string): Promise<string> {
    const [current] = await this.#run(renewScript, [], [epoch])
    return String(current)
  }

  /** What the ledger does not have of this partition. */
  async owed(): Promise<Owed> {
    const [ids, ageMs, auditDifference] = await this.#run(owedScript, [], [])
    return { ids: Number(ids), ageMs: Number(ageMs), auditDifference: Number(auditDifference) }
  }

  /** False where a batch must be finished first. */
  async clear(id: string): Promise<boolean> {
    const [kind] = await this.#run(clearScript, [this.#options.keys.entry(id)], [storedId(id)])
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
      throw failureOf('Redis', error)
    })
    const late = (): Error => unanswered(`Redis gave no answer within ${waitMs} ms`)
    const reply = await answeredWithin(answer, { clock, waitMs, late })
    return Array.isArray(reply) ? reply : [reply]
  }
}

/** Of a hash as scripts answer it: names and values in turns. */
function amountsOf(flat: readonly unknown[]): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>()
  for (let at = 0; at < flat.length; at += 2) amounts.set(idOf(String(flat[at])), Number(flat[at + 1]))
  return amounts
}

function argsOf({ value, version, updatedAt }: LedgerEntry): (string | number)[] {
  return [value, version, updatedAt ?? '']
}

/** None where its total is not known. */
function readingOf(id: string, reply: readonly unknown[], at: number): [string, CounterReading][] {
  const [value, version, updatedAt] = reply.slice(at, at + 3)
  if (value === '') return []
  const time = updatedAt === '' ? undefined : Number(updatedAt)
  return [[id, { id, value: Number(value), version: Number(version), updatedAt: time }]]
}

function unsure(): Error {
  return unanswered('increment: the connection to Redis broke before the answer came, it may have counted')
}
