import type { MaybePromise } from '../maybe-promise.ts'
import type { ObservedRequest } from '../observer.ts'
import type { Priority } from '../priority.ts'
import type { KeyShare, SharedKey } from './key-share.ts'
import type { Denial, Permit } from './permit.ts'

/** A named limit on concurrent work: at most `limit` places per key. */
export interface Cap {
  readonly name: string
  /** Part of the application that the cap applies to. Caps with the same name in different parts are separate. */
  readonly place?: string | undefined
  /** Places per key, an integer of at least 1. */
  readonly limit: number
  /** Returns the places of a key that apply now, which may change while work waits. Default: always `limit`. */
  readonly limitOf?: ((key: string) => number) | undefined
  /** Largest weight that may fit later, if it is above the places that apply now. Default: what applies now. */
  readonly maxWeight?: number | undefined
  /** Milliseconds after which a permit is revoked, from 1 to 2^31 - 1. Default: never. */
  readonly maxHoldMs?: number | undefined
}

export interface AcquireOptions {
  /** Number of places that the work takes, an integer of at least 1. Above the limit it never fits. Default: 1. */
  readonly weight?: number | undefined
  /** Releases the permit at once if the signal is aborted while `acquire` is pending. */
  readonly signal?: AbortSignal | undefined
  /** Default: `normal`. Only backends of `@sluice/overload` use it, and `client`. */
  readonly priority?: Priority | undefined
  /** The client that asked. Among work of equal priority, that of the client with the most recent usage is refused first. */
  readonly client?: string | undefined
  /** Name of work that takes equally long, such as a route: it counts apart while late. Default: client or priority. */
  readonly workClass?: string | undefined
  /** Whether the work only needs to fit `cap.limit`: it neither waits nor is refused in favour of other work. */
  readonly isApart?: boolean | undefined
  /** Whether the work may wait for a place, if the backend lets work wait. Default: true. */
  readonly mayWait?: boolean | undefined
  /** The cap that requests the permit. A backend that serves several caps counts each by its name and its limit. */
  readonly cap?: Cap | undefined
  /** The request, for observers. */
  readonly request?: ObservedRequest | undefined
}

/** Stores permits. */
export interface InflightBackend {
  /**
   * Object shared by all backends of this process that use the same storage: equal caps on such backends share their
   * places. Default: the backend itself.
   */
  readonly identity?: object | undefined
  /** The limit, if the backend has one limit for all caps. Caps on it must have the same limit. */
  readonly limit?: number | undefined
  /** Whether permits are stored in this process, so that `count` is synchronous. Adaptive limits need this or `share`. */
  readonly isLocal?: boolean | undefined
  /** Returns a permit, or a denial if no place is free or the weight exceeds the limit. */
  acquire(key: string, options?: AcquireOptions): MaybePromise<Permit | Denial>
  /** Returns the number of places held for `key` under `cap`, as far as this backend knows. */
  count?(key: string, cap?: Cap): MaybePromise<number>
  /** Returns the number of requests, of all keys, that wait for a place of `cap`. Default: 0. */
  waiting?(cap?: Cap): number
  /** Called when the limit of `cap` has changed: admits work that waits and fits now. Default key: all keys. */
  admitWaiting?(cap: Cap, key?: string): void
  /** Joins the processes that share the learned limit of a key. `grown` is called when the share has grown. */
  share?(key: string, cap: Cap, shared: SharedKey, grown: () => void): KeyShare
  close?(): MaybePromise<void>
}
