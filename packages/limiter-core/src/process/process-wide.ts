/**
 * Returns an object that is shared by all copies of the package in a process, such as its ESM and CommonJS builds or
 * several releases. `key` must be a registered symbol (`Symbol.for`); `make` creates the object on first use.
 */
export function processWide<T extends object>(key: symbol, make: () => T): T {
  const home = globalThis as { [key: symbol]: unknown }
  home[key] ??= make()
  return home[key] as T
}
