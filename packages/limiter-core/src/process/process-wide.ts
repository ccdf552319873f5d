/**
 * What every copy of the package in a process shares under a registered symbol, made when first asked for: its ESM and
 * its CommonJS copy, and those of several releases, must see the same.
 */
export function processWide<T extends object>(key: symbol, make: () => T): T {
  const home = globalThis as { [key: symbol]: unknown }
  home[key] ??= make()
  return home[key] as T
}
