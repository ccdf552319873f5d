import { badOption, integerFrom, optionsOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { microsOf } from './micro-units.ts'

/** Prices of one item, by kind of unit: `{ input: '2.50', output: '10', cachedInput: '1.25' }`. */
export type Prices = Readonly<Record<string, string>>

/** Used units by kind: `{ input: 1_200, output: 300 }`. */
export type Usage = Readonly<Record<string, number>>

export interface PriceTableOptions {
  /** Currency in the name of the unit: three capital letters (ISO 4217) such as `USD`. */
  readonly currency: string
  /** Number of units that a price is for, an integer of at least 1. Default: 1,000,000. */
  readonly per?: number | undefined
  /** Prices by item, such as a model. A price is a decimal number in a string, in the currency, for `per` units. */
  readonly items: Readonly<Record<string, Prices>>
}

/** Computes costs in millionths of a currency unit. */
export interface PriceTable {
  /** Name of the unit for policies: `micro-usd`. */
  readonly unit: string
  /** Whether an item has prices or, if `kind` is given, a price of this kind. */
  has(item: string, kind?: string): boolean
  /**
   * Returns the cost of `usage` in millionths of a currency unit, an integer that is rounded up once. Throws
   * `SLUICE_BAD_COST` if the item or a kind has no price, or if a number of units is not an integer of 0 or more.
   */
  costOf(item: string, usage: Usage): number
  /** Converts an amount such as `'25.00'` to millionths, for the limit of a policy. Throws `SLUICE_BAD_OPTION`. */
  amount(decimal: string): number
}

/** Creates a table of prices. Throws `SLUICE_BAD_OPTION` if an option is invalid. */
export function priceTable(options: PriceTableOptions): PriceTable {
  const { currency, per = 1_000_000, items } = optionsOf('priceTable', options, ['currency', 'per', 'items'])
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw badOption('priceTable: currency', currency, "three capital letters such as 'USD'")
  }
  const divisor = BigInt(integerFrom('priceTable: per', per, 1))
  if (typeof items !== 'object' || items === null) {
    throw badOption('priceTable: items', items, "prices by item, such as { 'model-a': { input: '2.50' } }")
  }
  const prices = new Map(Object.entries(items).map(([item, own]) => [item, pricesOf(item, own)]))
  const costOf = (item: string, usage: Usage): number => {
    const own = prices.get(item)
    if (!own) throw noPrice(`${shown(item, 'item')}`)
    let total = 0n
    for (const [kind, units] of Object.entries(usage)) {
      const price = own.get(kind)
      if (price === undefined) throw noPrice(`${shown(kind, 'kind')} of ${shown(item, 'item')}`)
      total += price * unitsOf(kind, units)
    }
    return safeNumber((total + divisor - 1n) / divisor)
  }
  return {
    unit: `micro-${currency.toLowerCase()}`,
    has: (item, kind) => (kind === undefined ? prices.has(item) : prices.get(item)?.has(kind) === true),
    costOf,
    amount: (decimal) => safeNumber(microsOf('amount', decimal)),
  }
}

function pricesOf(item: string, own: unknown): ReadonlyMap<string, bigint> {
  const owner = `priceTable: items[${shown(item, 'item')}]`
  if (typeof own !== 'object' || own === null) throw badOption(owner, own, "prices such as { input: '2.50' }")
  return new Map(Object.entries(own).map(([kind, price]) => [kind, microsOf(`${owner}.${kind}`, price)]))
}

function unitsOf(kind: string, units: unknown): bigint {
  if (Number.isSafeInteger(units) && Number(units) >= 0) return BigInt(units as number)
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `usage.${kind}: expected an integer from 0 to 2^53 - 1, received ${shown(units, 'units')}`,
  )
}

function noPrice(what: string): SluiceError {
  return new SluiceError('SLUICE_BAD_COST', `item: expected one with a price, received ${what}`)
}

/** Returns the number, at most the largest cost. */
function safeNumber(micros: bigint): number {
  return micros > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(micros)
}
