/**
 * Returns an object that is shared by all copies of the package in a process, such as its ESM and CommonJS builds or
 * several releases. `key` must be a registered symbol (`Symbol.for`); `make` creates the object on first use.
 */
export function processWide<T extends object>(key: symbol, make: () => T): T {
  const home = globalThis as { [key: symbol]: unknown }
  home[key] ??= make()
  return home[key] as T
}

/** Returns a function that returns a `WeakMap` of all copies of the package, which the first call creates. */
export function processWideMap<Key extends WeakKey, Value>(key: symbol): () => WeakMap<Key, Value> {
  let map: WeakMap<Key, Value> | undefined
  return () => {
    map ??= processWide(key, () => new WeakMap<Key, Value>())
    return map
  }
}
