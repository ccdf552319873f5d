import { withErrorLink } from '@sluice/limiter-core/keyed-hash'
import { keyBytes } from './key-text.ts'

/** Codes that a sketch throws with. `docs/errors.md` has a section for each. */
export type SketchCode =
  | 'SLUICE_BAD_OPTION'
  | 'SLUICE_BAD_AMOUNT'
  | 'SLUICE_BAD_BYTES'
  | 'SLUICE_SKETCH_MISMATCH'
  | 'SLUICE_SKETCH_UNSUPPORTED'

/** Known by its `code`, never by `instanceof`: two versions of a package may meet in one process. */
export class SketchError extends Error {
  readonly code: SketchCode
  constructor(code: SketchCode, message: string) {
    super(withErrorLink(code, `${code}: ${message}`))
    this.name = 'SketchError'
    this.code = code
  }
}

/** `value` where it is a whole number from `least` to `most`; throws `SLUICE_BAD_OPTION` otherwise. */
export function wholeOption(option: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `${option}: expected an integer from ${least} to ${most}, received ${described(value)}`,
  )
}

/** `value` where it lies between two numbers, neither of them included; throws `SLUICE_BAD_OPTION` otherwise. */
export function fractionOption(option: string, value: unknown, above = 0, below = 1): number {
  if (typeof value === 'number' && value > above && value < below) return value
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `${option}: expected a number between ${above} and ${below}, received ${described(value)}`,
  )
}

/** Throws `SLUICE_BAD_OPTION` if `options` is not an object or has an unknown name. */
export function checkOptions(owner: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new SketchError(
      'SLUICE_BAD_OPTION',
      `${owner}: expected an object of options, received ${describedKind(options)}`,
    )
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new SketchError(
      'SLUICE_BAD_OPTION',
      `${owner}: expected an option out of ${names.join(', ')}, received ${describedName(unknown)}`,
    )
  }
}

/** `amount` where it is a whole number from `least` to 2^53 - 1; throws `SLUICE_BAD_AMOUNT` otherwise. */
export function wholeAmount(amount: number, least = 0): number {
  if (Number.isSafeInteger(amount) && amount >= least) return amount
  throw badAmount(amount, least)
}

// separate, so that the check is small enough to be inlined into every caller
function badAmount(amount: unknown, least: number): SketchError {
  return new SketchError(
    'SLUICE_BAD_AMOUNT',
    `amount: expected an integer from ${least}, received ${described(amount)}`,
  )
}

/**
 * Describes a received value, short and safe to print. A string may be a misplaced seed, so only its length is shown.
 */
export function described(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'function') return 'a function'
  if (ArrayBuffer.isView(value)) return `${keyBytes(value).length} bytes`
  if (typeof value === 'symbol') return 'a symbol'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** Like `described`, for values of which not even a number may be shown. */
export function describedKind(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? 'a number' : described(value)
}

/** Returns the name of an option; for something that does not look like a name, only what `described` returns. */
function describedName(name: string): string {
  return /^[\w-]{1,32}$/.test(name) ? JSON.stringify(name) : described(name)
}
