import type { MaybePromise } from './maybe-promise.ts'
import type { ObservedRequest } from './observer.ts'
import type { Denial, Permit } from './permit.ts'

/** A named promise: at most `limit` places for each key. */
export interface Cap {
  readonly name: string
  /** The part of an application that it caps: equal names of different parts are different caps. */
  readonly place?: string | undefined
  /** Whole places, at least 1. */
  readonly limit: number
  /** Milliseconds after which a permit is taken back, from 1 to 2^31 - 1; default: no bound. */
  readonly maxHoldMs?: number | undefined
}

export interface AcquireOptions {
  /** Places that this work takes; default: 1. More than the limit never fit. */
  readonly weight?: number
  /** Aborted while an acquire is under way: the place goes straight back. */
  readonly signal?: AbortSignal
  /** Who asks, where it is a cap. A backend of many caps counts each by its name, and takes the limit from here. */
  readonly cap?: Cap
  /** Whose request it is, for observers. */
  readonly request?: ObservedRequest
}

/** Where permits live. */
export interface InflightBackend {
  /** Equal for backends of this process that count in one place: equal caps on them are one. */
  readonly identity?: object | undefined
  /** Where it has one limit for all that it counts: the caps on it must say the same one. */
  readonly limit?: number | undefined
  acquire(key: string, options?: AcquireOptions): MaybePromise<Permit | Denial>
  /** Places held for `key` under `cap`, as far as this backend knows. */
  count?(key: string, cap?: Cap): MaybePromise<number>
  close?(): MaybePromise<void>
}
