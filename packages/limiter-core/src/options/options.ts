import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { hintFor, type OptionPlaces, similarOf } from './option-hints.ts'

/**
 * Returns `options` after checking their names. Throws `SLUICE_BAD_OPTION` if they are not an object or contain a name
 * that is not `known`, because a misspelt option would silently disable a limit. `owner` is the start of the message,
 * which then says what to write instead. `places` are other places for options, for that hint.
 */
export function optionsOf<T extends object>(
  owner: string,
  options: T,
  known: readonly (keyof T & string)[],
  places: OptionPlaces = {},
): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw wrongOptions(owner, insteadOf(options, known, places), kindOf(options))
  }
  if (isRequest(options)) throw wrongOptions(owner, `options, as in ${owner}({ … })`, 'a request')
  for (const name of Object.keys(options)) {
    if (known.includes(name as keyof T & string)) continue
    const hint = hintFor(name, options[name as keyof T], known, places)
    const list = known.join(', ')
    const received = `an unknown option ${shown(name, 'name')}${hint ? `; its options are ${list}` : ''}`
    throw wrongOptions(owner, hint ?? `one of ${list}`, received)
  }
  return options
}

function wrongOptions(owner: string, expected: string, received: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected ${expected}, received ${received}`)
}

/** Returns what to write instead of a value that is not an object of options. */
function insteadOf(value: unknown, known: readonly string[], places: OptionPlaces): string {
  if (value === false && known.includes('skipLimits')) return '{ skipLimits: true }'
  const [phrase] = Object.entries(places).find(([, names]) => names.includes('policies')) ?? []
  if (Array.isArray(value) && phrase) return `policies: […] ${phrase}`
  return Array.isArray(value) && known.includes('policies') ? '{ policies: […] }' : 'an object of options'
}

/** Returns `value` if it is an integer from `least` to `most`. Throws `SLUICE_BAD_OPTION` otherwise. */
export function integerFrom(
  option: string,
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value)
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  throw badOption(option, value, `an integer ${range}`)
}

/** Options of a single policy, which cannot be combined with `policies` or `plans`. */
export const POLICY_ONLY = [
  'name',
  'limit',
  'window',
  'algorithm',
  'burst',
  'slices',
  'calendar',
  'overrides',
  'ban',
  'unit',
  'maxHoldMs',
  'retry',
] as const

/** Whether the value is a request or a context, which a framework passes to a middleware. */
export function isRequest(options: object): boolean {
  const { req = options } = options as { readonly req?: Readonly<Record<string, unknown>> }
  const { method, url } = (req ?? {}) as Readonly<Record<string, unknown>>
  return typeof method === 'string' && typeof url === 'string'
}

/** Returns `value` if it is one of `choices`; throws `SLUICE_BAD_OPTION` otherwise. */
export function oneOf<T extends string>(option: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T
  const similar = typeof value === 'string' ? similarOf(value, choices) : undefined
  const expected = choices.map((choice) => `'${choice}'`).join(', ')
  throw badOption(option, value, similar ? `'${similar}' (one of ${expected})` : `one of ${expected}`)
}

/** Throws `SLUICE_BAD_OPTION` unless `value` is undefined or a function. */
export function optionalFunction(option: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a function, received ${kindOf(value)}`)
}

/** Returns `value`, or false if it is undefined; throws `SLUICE_BAD_OPTION` if it is not a boolean. */
export function optionalBoolean(option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected true or false, received ${kindOf(value)}`)
}

/** Throws `SLUICE_BAD_OPTION` unless `value` is undefined or has all `methods`. `expected` describes a valid value. */
export function optionalWith(option: string, value: unknown, methods: readonly string[], expected: string): void {
  if (value === undefined) return
  const given = value as Readonly<Record<string, unknown>> | null
  if (methods.every((method) => typeof given?.[method] === 'function')) return
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${kindOf(value)}`)
}
