import 'reflect-metadata'
import { kindOf, type LayerOptions, SluiceError } from '@sluice/node-http'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

/** What a class or a method of Nest may say of limits. */
export type NestLayer = LayerOptions<PlatformRequest, PlatformResponse>

/** Options of a limit; `false` removes what is said above. */
type Said<Word extends 'rateLimit' | 'slowDown' | 'inflightLimit'> = Exclude<NestLayer[Word], undefined>

/** One decorator: options, or `policy`, the name of one of the module's. */
export type LimitWord = NestLayer & { readonly policy?: string }

/** Decorates controllers, resolvers and gateways, and their methods. */
export type LimitDecorator = ClassDecorator & MethodDecorator

const KEY = Symbol.for('sluice.nest.limits')
const SILENCE: readonly LimitWord[] = []

/** What is said on a class or a method itself, the uppermost first: one list for each place, also where a tracer wraps it. */
export function wordsOn(target: object): readonly LimitWord[] {
  return Reflect.getOwnMetadata(KEY, target) ?? SILENCE
}

/**
 * Limits rates of a class, which its methods share, or of a method: `@RateLimit({ limit: 5, window: '10s' })`. A string
 * names a policy of the module, whose count all who name it share. `false` removes the rates from above.
 */
export function RateLimit(limit: Said<'rateLimit'> | string): LimitDecorator {
  if (typeof limit === 'string') return saying('RateLimit', { policy: limit })
  return saying('RateLimit', { rateLimit: known('RateLimit', limit, 'options or the name of a policy') })
}

/** Caps requests in progress: `@InflightLimit({ limit: 10 })`. `false` removes the caps from above. */
export function InflightLimit(limit: Said<'inflightLimit'>): LimitDecorator {
  return saying('InflightLimit', { inflightLimit: known('InflightLimit', limit) })
}

/** Delays who asks too often. `false` removes the delays from above. */
export function SlowDown(limit: Said<'slowDown'>): LimitDecorator {
  return saying('SlowDown', { slowDown: known('SlowDown', limit) })
}

/** Leaves out what is said above: `@SkipLimits('burst')` the policies and caps of these names, `@SkipLimits()` all. */
export function SkipLimits(...names: readonly string[]): LimitDecorator {
  for (const name of names) {
    if (typeof name !== 'string') throw misused('SkipLimits', kindOf(name), 'names of policies and caps')
  }
  return saying('SkipLimits', { skipLimits: names.length === 0 ? true : names })
}

function saying(decorator: string, word: LimitWord): LimitDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    const place = descriptor ? descriptor.value : target
    if (typeof place !== 'function') throw misused(decorator, kindOf(place), 'a class or a method')
    // decorators run from the lowest up
    Reflect.defineMetadata(KEY, [word, ...wordsOn(place)], place)
  }
}

/** Without its parentheses a decorator is given what it decorates. */
function known<T extends object | false>(decorator: string, limit: T, expected = 'options'): T {
  if (limit === false || (typeof limit === 'object' && limit !== null)) return limit
  throw misused(decorator, kindOf(limit), expected)
}

function misused(decorator: string, got: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `@${decorator}: got ${got}, expected ${expected}`)
}
