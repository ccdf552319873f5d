import { randomBytes } from 'node:crypto'
import {
  type Clock,
  clockOf,
  type Duration,
  type Observer,
  Observers,
  parseMs,
  type ScriptRunner,
  SluiceError,
  shown,
} from '@sluice/limiter-core/backend'
import { checkPrefix } from '../client/entity-key.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { runnerOf } from '../client/script-runner.ts'

/** Options of channels and sums. */
export interface SharedChannelOptions {
  /** First part of every name in Redis; default: `sluice`. 1 to 64 characters, without braces. The same in all processes that share. */
  readonly prefix?: string | undefined
  /** Time between two exchanges. Default: 1 s; at least 1 ms. */
  readonly tickMs?: Duration | undefined
  /** How long `close` may take to send the rest. Default: 1 s. */
  readonly closeMs?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /**
   * Receive `sync` with the `topic` and one of: `missed: true`, messages were discarded before this process received
   * them; `dropped`, the number of messages that were not sent; `failed`, the code of an error when an outage starts,
   * and `false` when it ends.
   */
  readonly observers?: readonly Observer[] | undefined
}

/** The names of `SharedChannelOptions`, for `optionsOf`. */
export const SHARED_CHANNEL_OPTIONS = ['prefix', 'tickMs', 'closeMs', 'clock', 'observers'] as const

/** The same options, checked. */
export interface ChannelSettings {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly observers: Observers
  readonly prefix: string
  readonly tickMs: number
  readonly closeMs: number
  /** Identifies this start of this process. */
  readonly writer: string
}

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function channelSettings(
  owner: string,
  client: RedisClient | ScriptRunner,
  { prefix = 'sluice', tickMs = 1_000, closeMs = 1_000, clock, observers }: SharedChannelOptions,
): ChannelSettings {
  checkPrefix(owner, prefix)
  return {
    runner: runnerOf(client),
    clock: clockOf(clock),
    observers: new Observers(observers),
    prefix,
    tickMs: whole(parseMs(tickMs, `${owner}: tickMs`), `${owner}: tickMs`),
    closeMs: parseMs(closeMs, `${owner}: closeMs`),
    writer: randomBytes(12).toString('base64url'),
  }
}

/** `value` where it is a whole number from `least`, default 1, to `most`; throws `SLUICE_BAD_OPTION` otherwise. */
export function whole(
  value: unknown,
  option: string,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${option}: expected an integer from ${least} to ${most}, received ${shown(value, option)}`,
  )
}
