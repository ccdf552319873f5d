/** What a run spends and adds up. Integers: millionths of a dollar, tokens and calls. */
export interface Amounts {
  readonly usd: number
  readonly tokens: number
  readonly calls: number
}

export type AmountKind = keyof Amounts

export const AMOUNT_KINDS: readonly AmountKind[] = ['usd', 'tokens', 'calls']
export const NOTHING: Amounts = { usd: 0, tokens: 0, calls: 0 }

export function plus(one: Amounts, other: Amounts): Amounts {
  return { usd: one.usd + other.usd, tokens: one.tokens + other.tokens, calls: one.calls + other.calls }
}

export function minus(one: Amounts, other: Amounts): Amounts {
  return { usd: one.usd - other.usd, tokens: one.tokens - other.tokens, calls: one.calls - other.calls }
}

/** Returns an amount with each negative number replaced by 0. */
export function atLeastNothing({ usd, tokens, calls }: Amounts): Amounts {
  return { usd: Math.max(0, usd), tokens: Math.max(0, tokens), calls: Math.max(0, calls) }
}

/** Returns millionths as a decimal number in a string: `'0.012345'`. */
export function decimalOf(micros: number): string {
  const digits = String(micros).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
