import 'reflect-metadata'
import type { LayerOptions } from '@sluice/node-http/adapter'
import type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'

/** Limits that a class or a method can declare. */
export type NestLayer = LayerOptions<PlatformRequest, PlatformResponse>

/** Content of one decorator: options, or `policy`, the name of a policy of the module. */
export type DeclaredLimits = NestLayer & { readonly policy?: string }

const KEY = Symbol.for('sluice.nest.limits')
const NO_WORDS: readonly DeclaredLimits[] = []

/**
 * Returns the limits that decorators declare on a class or method, without inherited ones, the topmost decorator first.
 * A wrapper of the method, such as a tracer's, returns the same list.
 */
export function declaredLimitsOf(target: object): readonly DeclaredLimits[] {
  return Reflect.getOwnMetadata(KEY, target) ?? NO_WORDS
}

/** Adds the limits of a decorator to a class or method. Decorators run from bottom to top. */
export function declareLimits(target: object, word: DeclaredLimits): void {
  Reflect.defineMetadata(KEY, [word, ...declaredLimitsOf(target)], target)
}
