let registry: FinalizationRegistry<() => void> | undefined

/**
 * Calls `run` after `target` has been garbage-collected. `run` must not refer to `target`. Does nothing in runtimes
 * without `FinalizationRegistry`, such as Workers with a compatibility date before 2025-05-05.
 */
export function whenCollected(target: object, run: () => void): void {
  // created late, because such a runtime could not load this module otherwise
  if (typeof FinalizationRegistry === 'undefined') return
  registry ??= new FinalizationRegistry((one) => one())
  registry.register(target, run)
}

/**
 * Returns a function that returns `target` until it has been garbage-collected, and undefined afterwards. Keeps `target`
 * alive in runtimes without `WeakRef`.
 */
export function weakly<T extends object>(target: T): () => T | undefined {
  return derefOf(typeof WeakRef === 'undefined' ? { deref: () => target } : new WeakRef(target))
}

// closures of one function share their variables: one made in `weakly` would keep `target` alive
function derefOf<T>(ref: { deref(): T | undefined }): () => T | undefined {
  return () => ref.deref()
}
