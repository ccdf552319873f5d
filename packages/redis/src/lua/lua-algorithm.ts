/**
 * An algorithm of limiter-core in Lua: functions over the cells of a key, by the names that they have in TypeScript.
 * Its constants are locals that stand before them, so that a script of one policy needs no table of functions.
 */
export interface LuaAlgorithm {
  /** The names of its constants, in the order of `stepArgs`; `capacity` is the first. */
  readonly constants: readonly string[]
  /** In Lua: how many cells a key has; `nil` where it has as many as units. */
  readonly cells: string
  /** In Lua: their format for `struct`, `nil` as above. */
  readonly layout: string
  /** What is derived of the constants; `waitMs`, `spend`, `remaining` and `resetAfterMs`. */
  readonly takes: string
  /** `adjust` and `adopt`. */
  readonly moves: string
}
