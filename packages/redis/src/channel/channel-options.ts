import { randomBytes } from 'node:crypto'
import {
  type Clock,
  clockOf,
  type Duration,
  integerFrom,
  type Observer,
  Observers,
  parseMs,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import { checkPrefix } from '../client/entity-key.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { refusedInWorkers } from '../runners/refused-in-workers.ts'
import { scriptRunner } from '../runners/script-runner.ts'

/** Common options of `redisChannel`, `redisSums` and `redisUniques`. */
export interface SharedChannelOptions {
  /**
   * First part of every Redis key; 1 to 64 characters without braces or control characters. Must be the same in all
   * processes that share data. Default: `sluice`.
   */
  readonly prefix?: string | undefined
  /** Time between two exchanges with Redis, at least 1 ms in whole milliseconds. Default: 1 second. */
  readonly tickMs?: Duration | undefined
  /** Maximum time that `close` takes to send the rest. Default: 1 second. */
  readonly closeMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /**
   * Receive `sync` events with the `topic` and one of:
   *
   * - `missed: true`: data was discarded before this process received it;
   * - `dropped`: the number of messages, amounts or keys that were not sent;
   * - `failed`: the code of an error when an outage starts, and `false` when it ends.
   *
   * Default: none.
   */
  readonly observers?: readonly Observer[] | undefined
}

/** The names of `SharedChannelOptions`, for `optionsOf`. */
export const SHARED_CHANNEL_OPTIONS = ['prefix', 'tickMs', 'closeMs', 'clock', 'observers'] as const

/** Validated `SharedChannelOptions`, with the runner of the client. */
export interface ChannelSettings {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly observers: Observers
  readonly prefix: string
  readonly tickMs: number
  readonly closeMs: number
  /** Random id, different after each start of a process. */
  readonly writer: string
}

/** Validates the common options. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`. */
export function channelSettings(
  owner: string,
  client: RedisClient | ScriptRunner,
  { prefix = 'sluice', tickMs = 1_000, closeMs = 1_000, clock, observers }: SharedChannelOptions,
): ChannelSettings {
  checkPrefix(owner, prefix)
  refusedInWorkers(owner)
  return {
    runner: scriptRunner(client),
    clock: clockOf(clock),
    observers: new Observers(observers),
    prefix,
    tickMs: integerFrom(`${owner}: tickMs`, parseMs(tickMs, `${owner}: tickMs`), 1),
    closeMs: parseMs(closeMs, `${owner}: closeMs`),
    writer: randomBytes(12).toString('base64url'),
  }
}
