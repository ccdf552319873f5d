/** What one replica has counted under an id. */
export interface CounterAmount {
  /** How often the counter had been reset: of entries of one counter only those of the latest epoch count. */
  readonly epoch: number
  readonly units: bigint
  /** Whether the counter was deleted, and this replica has not counted it since. */
  readonly isDeleted: boolean
}

export const NO_AMOUNT: CounterAmount = { epoch: 0, units: 0n, isDeleted: true }

/** Of two amounts of one counter, as if one replica had counted both. */
export function mergedAmount(one: CounterAmount, other: CounterAmount): CounterAmount {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch ? one : other
  return {
    epoch: one.epoch,
    units: one.units + other.units,
    isDeleted: one.isDeleted && other.isDeleted,
  }
}

/** What `after` has that `before` had not: two amounts of one replica. */
export function amountSince(before: CounterAmount, after: CounterAmount): CounterAmount {
  return before.epoch === after.epoch ? { ...after, units: after.units - before.units } : after
}

/** As JSON; units that a double does not hold exactly are a text. */
export function amountJson({ epoch, units, isDeleted }: CounterAmount): readonly unknown[] {
  const amount = Number(units)
  return [epoch, Number.isSafeInteger(amount) ? amount : String(units), isDeleted ? 1 : 0]
}

/** Undefined for what `amountJson` does not write. */
export function amountOf(json: unknown): CounterAmount | undefined {
  if (!Array.isArray(json) || json.length !== 3) return undefined
  const [epoch, units, deleted] = json as readonly unknown[]
  const isWhole = Number.isSafeInteger(units) || (typeof units === 'string' && /^-?\d{16,40}$/.test(units))
  if (!isWhole || !Number.isSafeInteger(epoch) || Number(epoch) < 0) return undefined
  return { epoch: Number(epoch), units: BigInt(units as number | string), isDeleted: deleted === 1 }
}
