/** Amount that one replica has counted for an id. */
export interface CounterAmount {
  /** Number of resets of the counter. Only entries of the latest epoch count. */
  readonly epoch: number
  readonly units: bigint
  /** Whether the counter was deleted, and this replica has not counted it since. */
  readonly isDeleted: boolean
}

export const NO_AMOUNT: CounterAmount = { epoch: 0, units: 0n, isDeleted: true }

/** Returns the sum of two amounts, as if one replica had counted both. If the epochs differ, returns the later one. */
export function mergedAmount(one: CounterAmount, other: CounterAmount): CounterAmount {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch ? one : other
  return {
    epoch: one.epoch,
    units: one.units + other.units,
    isDeleted: one.isDeleted && other.isDeleted,
  }
}

/** Returns what a replica counted between `before` and `after`, or `after` if the epoch has changed. */
export function amountSince(before: CounterAmount, after: CounterAmount): CounterAmount {
  return before.epoch === after.epoch ? { ...after, units: after.units - before.units } : after
}

/** Returns an amount as JSON. Units that a double cannot hold exactly are a string. */
export function amountJson({ epoch, units, isDeleted }: CounterAmount): readonly unknown[] {
  const amount = Number(units)
  return [epoch, Number.isSafeInteger(amount) ? amount : String(units), isDeleted ? 1 : 0]
}

/** Parses an amount; returns undefined if `amountJson` does not write such a value. */
export function amountOf(json: unknown): CounterAmount | undefined {
  if (!Array.isArray(json) || json.length !== 3) return undefined
  const [epoch, units, deleted] = json as readonly unknown[]
  const isWhole = Number.isSafeInteger(units) || (typeof units === 'string' && /^-?\d{16,40}$/.test(units))
  if (!isWhole || !Number.isSafeInteger(epoch) || Number(epoch) < 0) return undefined
  return { epoch: Number(epoch), units: BigInt(units as number | string), isDeleted: deleted === 1 }
}
