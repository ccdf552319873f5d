/** Returns `options` with inherited values for options that are missing or undefined. */
export function withInherited<T extends object>(options: T, inherited: object): T {
  const missing = Object.entries(inherited).filter(([name]) => options[name as keyof T] === undefined)
  return { ...inherited, ...options, ...Object.fromEntries(missing) }
}
