import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { replacementFor } from './replaced-options.ts'

/**
 * Returns `options` after checking their names. Throws `SLUICE_BAD_OPTION` if they are not an object or contain a name
 * that is not `known`, because a misspelt option would silently disable a limit. `owner` is the start of the message.
 */
export function optionsOf<T extends object>(owner: string, options: T, known: readonly (keyof T & string)[]): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected an object of options, received ${kindOf(options)}`)
  }
  if (isRequest(options)) {
    const expected = `options, as in app.use(${owner}({ … }))`
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected ${expected}, received a request`)
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name as keyof T & string)) continue
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: ${whyUnknown(name, options, known)}`)
  }
  return options
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

function whyUnknown(name: string, options: object, known: readonly string[]): string {
  const replacement = replacementFor(name)
  const [option] = replacement?.split(':') ?? []
  const hint = option && known.includes(option) ? `; use ${replacement} instead` : ''
  const list = ['policies', 'plans'].find((each) => Object.hasOwn(options, each) && !known.includes(name))
  const inList =
    list && (POLICY_ONLY as readonly string[]).includes(replacement ?? name) ? `; set it in each policy of ${list}` : ''
  return `expected one of ${known.join(', ')}, received an unknown option ${shown(name, 'name')}${inList || hint}`
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

/** Whether the value is a Node request or a Koa context, which a framework passes to a middleware. */
function isRequest(options: object): boolean {
  const { req = options } = options as { readonly req?: Readonly<Record<string, unknown>> }
  const { method, url, httpVersion } = (req ?? {}) as Readonly<Record<string, unknown>>
  return typeof method === 'string' && typeof url === 'string' && typeof httpVersion === 'string'
}

/** Returns `value` if it is one of `choices`; throws `SLUICE_BAD_OPTION` otherwise. */
export function oneOf<T extends string>(option: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T
  const expected = choices.map((choice) => `'${choice}'`).join(', ')
  throw badOption(option, value, `one of ${expected}`)
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
