import { checkTopic } from '@sluice/fleet/backend'
import {
  type Clock,
  clockOf,
  Deadlines,
  KEEP_ALIVE,
  optionsOf,
  type RecordStore,
  type Script,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import { checkPrefix } from '../client/entity-key.ts'
import { invalidReply, unansweredFailure } from '../client/redis-failure.ts'
import { putRecord, readRecords } from '../lua/scripts.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { scriptRunner } from '../runners/script-runner.ts'

export interface RedisRecordsOptions {
  /** Name of the records; 1 to 128 printable ASCII characters without braces. Default: `records`. */
  readonly name?: string | undefined
  /**
   * First part of every Redis key; 1 to 64 characters without braces or control characters. Must be the same in all
   * processes. Default: `sluice`.
   */
  readonly prefix?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Maximum number of records of one name. */
const MAX_RECORDS = 10_000
/** Time after which a call rejects. */
const DEADLINE_MS = 2_000

/**
 * Creates a store on Redis or Redis Cluster, e.g. for `control.store` of `createInsight`. It keeps at most 10,000
 * records; above that, the records that end first are removed. Records end by the clock of the server. Calls reject if
 * Redis fails or does not reply within 2 s.
 *
 * Throws `SLUICE_BAD_OPTION`, or `SLUICE_BAD_MESSAGE` if the name is invalid.
 */
export function redisRecords(client: RedisClient | ScriptRunner, options: RedisRecordsOptions = {}): RecordStore {
  const { name = 'records', prefix = 'sluice', clock } = optionsOf('redisRecords', options, ['name', 'prefix', 'clock'])
  checkTopic('redisRecords: name', name)
  checkPrefix('redisRecords', prefix)
  return new RedisRecords(scriptRunner(client), `${prefix}:{${name}}:records`, clockOf(clock))
}

class RedisRecords implements RecordStore {
  readonly #runner: ScriptRunner
  readonly #keys: readonly string[]
  readonly #clock: Clock
  readonly #deadlines: Deadlines

  constructor(runner: ScriptRunner, stored: string, clock: Clock) {
    this.#runner = runner
    this.#keys = [stored, `${stored}:ends`]
    this.#clock = clock
    this.#deadlines = new Deadlines(clock, DEADLINE_MS, KEEP_ALIVE)
  }

  async put(id: string, text: string, endsAt: number): Promise<void> {
    const stored = await this.#run(putRecord, [id, text, endsAt, MAX_RECORDS])
    if (Number(stored) !== 1) throw invalidReply()
  }

  async all(): Promise<readonly string[]> {
    const texts = await this.#run(readRecords, [])
    if (!Array.isArray(texts)) throw invalidReply()
    return texts.map(String)
  }

  #run(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    const answer = this.#runner.run(script, this.#keys, args, { deadlineAt: this.#clock.now() + DEADLINE_MS })
    // a runner may ignore the deadline
    return this.#deadlines.race<unknown, unknown>(answer, {
      answered: (reply) => reply,
      failed: (error) => Promise.reject(error),
      late: () => Promise.reject(unansweredFailure()),
    })
  }
}
