/**
 * Returns an object that all copies of the package in a process share under a registered symbol, created on first
 * use: its ESM and CommonJS copies, and several releases, must share it.
 */
export function processWide<T extends object>(key: symbol, make: () => T): T {
  const home = globalThis as { [key: symbol]: unknown }
  home[key] ??= make()
  return home[key] as T
}
