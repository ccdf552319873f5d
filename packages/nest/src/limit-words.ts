import 'reflect-metadata'
import { kindOf, type LayerOptions, SluiceError } from '@sluice/node-http/adapter'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

/** What a class or a method of Nest may say of limits. */
export type NestLayer = LayerOptions<PlatformRequest, PlatformResponse>

/** Options of a limit; `false` removes what is said above. */
type OptionsOf<Word extends 'rateLimit' | 'slowDown' | 'inflightLimit'> = Exclude<NestLayer[Word], undefined>

/** One decorator: options, or `policy`, the name of one of the module's. */
export type LimitWord = NestLayer & { readonly policy?: string }

/** Decorates controllers, resolvers and gateways, and their methods. */
export type LimitDecorator = ClassDecorator & MethodDecorator

const KEY = Symbol.for('sluice.nest.limits')
const NO_WORDS: readonly LimitWord[] = []

/** What is said on a class or a method itself, the uppermost first: one list for each of them, also where a tracer wraps it. */
export function wordsOn(target: object): readonly LimitWord[] {
  return Reflect.getOwnMetadata(KEY, target) ?? NO_WORDS
}

/**
 * Limits rates of a class, which its methods share, or of a method: `@RateLimit({ limit: 5, window: '10s' })`. A string
 * names a policy of the module, whose count all who name it share. `false` removes the rates from above.
 */
export function RateLimit(limit: OptionsOf<'rateLimit'> | string): LimitDecorator {
  if (typeof limit === 'string') return decoratorAdding('RateLimit', { policy: limit })
  return decoratorAdding('RateLimit', { rateLimit: checked('RateLimit', limit, 'options or the name of a policy') })
}

/** Caps requests in progress: `@InflightLimit({ limit: 10 })`. `false` removes the caps from above. */
export function InflightLimit(limit: OptionsOf<'inflightLimit'>): LimitDecorator {
  return decoratorAdding('InflightLimit', { inflightLimit: checked('InflightLimit', limit) })
}

/** Delays who asks too often. `false` removes the delays from above. */
export function SlowDown(limit: OptionsOf<'slowDown'>): LimitDecorator {
  return decoratorAdding('SlowDown', { slowDown: checked('SlowDown', limit) })
}

/** Leaves out what is said above: `@SkipLimits('burst')` the policies and caps of these names, `@SkipLimits()` all. */
export function SkipLimits(...names: readonly string[]): LimitDecorator {
  for (const name of names) {
    if (typeof name !== 'string') throw misused('SkipLimits', kindOf(name), 'names of policies and caps')
  }
  return decoratorAdding('SkipLimits', { skipLimits: names.length === 0 ? true : names })
}

function decoratorAdding(decorator: string, word: LimitWord): LimitDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    const decorated = descriptor ? descriptor.value : target
    if (typeof decorated !== 'function') throw misused(decorator, kindOf(decorated), 'a class or a method')
    // decorators run from the lowest up
    Reflect.defineMetadata(KEY, [word, ...wordsOn(decorated)], decorated)
  }
}

/** Without its parentheses a decorator is given what it decorates. */
function checked<T extends object | false>(decorator: string, limit: T, expected = 'options'): T {
  if (limit === false || (typeof limit === 'object' && limit !== null)) return limit
  throw misused(decorator, kindOf(limit), expected)
}

function misused(decorator: string, got: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `@${decorator}: expected ${expected}, received ${got}`)
}
