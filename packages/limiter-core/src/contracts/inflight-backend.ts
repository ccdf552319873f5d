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
  /** If the signal is aborted while an acquire is pending, the permit is released at once. */
  readonly signal?: AbortSignal
  /**
   * The cap that requests the permit. A backend with many caps counts each by its name, and takes the limit from
   * here.
   */
  readonly cap?: Cap
  /** The request, for observers. */
  readonly request?: ObservedRequest
}

/** Stores permits. */
export interface InflightBackend {
  /** Equal for backends of this process that count in one place: equal caps on them are one. */
  readonly identity?: object | undefined
  /** The limit, if the backend has one limit for all caps. Caps on it must have the same limit. */
  readonly limit?: number | undefined
  acquire(key: string, options?: AcquireOptions): MaybePromise<Permit | Denial>
  /** Returns the places held for `key` under `cap`, as far as this backend knows. */
  count?(key: string, cap?: Cap): MaybePromise<number>
  close?(): MaybePromise<void>
}
