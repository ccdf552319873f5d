import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { namedHere } from './foreign-options.ts'

/**
 * Returns the options after checking their names. Throws `SLUICE_BAD_OPTION` if they are not a plain object or have
 * an unknown name, because a misspelt option would silently disable a limit.
 */
export function optionsOf<T extends object>(owner: string, options: T, known: readonly (keyof T & string)[]): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected an object of options, received ${kindOf(options)}`)
  }
  if (isRequest(options)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${owner}: expected options: app.use(${owner}({ … })), received a request`,
    )
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name as keyof T & string)) continue
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: ${whyUnknown(name, options, known)}`)
  }
  return options
}

/** Returns `options` with inherited values for options that are missing or undefined. */
export function withInherited<T extends object>(options: T, inherited: object): T {
  const unsaid = Object.entries(inherited).filter(([name]) => options[name as keyof T] === undefined)
  return { ...inherited, ...options, ...Object.fromEntries(unsaid) }
}

function whyUnknown(name: string, options: object, known: readonly string[]): string {
  const here = namedHere(name)
  const [option] = here?.split(':') ?? []
  const hint = option && known.includes(option) ? `, which is ${here} here` : ''
  const beside = ['policies', 'plans'].find((list) => Object.hasOwn(options, list) && !known.includes(name))
  const place = beside && POLICY_ONLY.includes(here ?? name) ? ` beside ${beside}, of which each has its own` : ''
  return `expected one of ${known.join(', ')}, received an unknown option ${shown(name, 'name')}${place || hint}`
}

const POLICY_ONLY: readonly string[] = [
  'limit',
  'window',
  'algorithm',
  'burst',
  'slices',
  'calendar',
  'overrides',
  'unit',
  'name',
]

/** Whether the value is what a framework passes to a middleware: a Node request or a Koa context. */
function isRequest(options: object): boolean {
  const { req = options } = options as { readonly req?: Readonly<Record<string, unknown>> }
  const { method, url, httpVersion } = (req ?? {}) as Readonly<Record<string, unknown>>
  return typeof method === 'string' && typeof url === 'string' && typeof httpVersion === 'string'
}

/** `value` where it is one of `choices`; throws `SLUICE_BAD_OPTION` otherwise. */
export function oneOf<T extends string>(option: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T
  const expected = choices.map((choice) => `'${choice}'`).join(', ')
  throw badOption(option, value, `one of ${expected}`)
}

/** Throws `SLUICE_BAD_OPTION` unless `value` is absent or a function. */
export function optionalFunction(option: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a function, received ${kindOf(value)}`)
}

/** Returns `value`, or false if it is undefined; throws `SLUICE_BAD_OPTION` if it is not a boolean. */
export function optionalBoolean(option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected true or false, received ${kindOf(value)}`)
}

/** Throws `SLUICE_BAD_OPTION` unless `value` is undefined or has these methods. `what` describes the expected value. */
export function optionalWith(option: string, value: unknown, methods: readonly string[], what: string): void {
  if (value === undefined) return
  const given = value as Readonly<Record<string, unknown>> | null
  if (methods.every((method) => typeof given?.[method] === 'function')) return
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${what}, received ${kindOf(value)}`)
}
