/** The part of a `DurableObjectState` that `LimitObject` uses. */
export interface LimitObjectState {
  readonly storage: LimitStorage
}

export interface WriteOptions {
  /** Whether replies are sent before the write is confirmed. */
  readonly allowUnconfirmed?: boolean
}

/** The part of a `DurableObjectStorage` that `LimitObject` uses. Both kinds of storage have it. */
export interface LimitStorage {
  get(keys: string[]): Promise<Map<string, unknown>>
  put(entries: Record<string, unknown>, options?: WriteOptions): Promise<void>
  delete(keys: string[], options?: WriteOptions): Promise<number>
  list(options: { readonly startAfter?: string; readonly limit: number }): Promise<Map<string, unknown>>
  getAlarm(): Promise<number | null>
  setAlarm(at: number, options?: WriteOptions): Promise<void>
}

/** Maximum number of keys of one operation. */
export const MAX_KEYS = 128

/** Ignores the failure of a write: the runtime then resets the object, and its callers receive an error. */
export function unawaited(write: Promise<unknown>): void {
  write.catch(() => {})
}
