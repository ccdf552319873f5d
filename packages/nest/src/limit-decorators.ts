import { kindOf, rejectMounted, SluiceError } from '@sluice/node-http/adapter'
import { type DeclaredLimits, declareLimits, type NestLayer } from './declared-limits.ts'
import { workAtEnd } from './limits-at-end.ts'
import { bindFirst } from './sluice-interceptor.ts'

/** Options of a limit; `false` removes the inherited limits. */
type OptionsOf<Word extends 'shed' | 'rateLimit' | 'slowDown' | 'inflightLimit'> = Exclude<NestLayer[Word], undefined>

/** Decorates controllers, resolvers and gateways, or their methods. */
export type LimitDecorator = ClassDecorator & MethodDecorator

const MOUNTING = { method: 'app.use', properties: ['handle'] }
const PLACE = 'a decorator above a class or a method'

/**
 * Limits the request rate of a class, whose methods share the count, or of a method:
 * `@RateLimit({ limit: 5, window: '10s' })`. A string is the name of a policy of the module; all decorators with this
 * name share its count. `false` removes the inherited rates.
 */
export function RateLimit(limit: OptionsOf<'rateLimit'> | string): LimitDecorator {
  if (typeof limit === 'string') return decoratorAdding('RateLimit', { policy: limit })
  return decoratorAdding('RateLimit', { rateLimit: checked('RateLimit', limit, 'options or the name of a policy') })
}

/** Caps concurrent requests: `@InflightLimit({ limit: 10 })`. `false` removes the inherited caps. */
export function InflightLimit(limit: OptionsOf<'inflightLimit'>): LimitDecorator {
  return decoratorAdding('InflightLimit', { inflightLimit: checked('InflightLimit', limit) })
}

/** Delays frequent requests of a client. `false` removes the inherited slow-downs. */
export function SlowDown(limit: OptionsOf<'slowDown'>): LimitDecorator {
  return decoratorAdding('SlowDown', { slowDown: checked('SlowDown', limit) })
}

/** Refuses requests while the process is overloaded: `@Shed({ priority })`. `false` removes inherited load shedding. */
export function Shed(shed: OptionsOf<'shed'>): LimitDecorator {
  return decoratorAdding('Shed', { shed: checked('Shed', shed) })
}

/** Removes inherited limits: `@SkipLimits('burst')` the policies and caps with these names, `@SkipLimits()` all. */
export function SkipLimits(...names: readonly string[]): LimitDecorator {
  for (const name of names) {
    if (typeof name !== 'string') throw misused('SkipLimits', kindOf(name), 'names of policies and caps')
  }
  return decoratorAdding('SkipLimits', { skipLimits: names.length === 0 ? true : names })
}

function decoratorAdding(decorator: string, word: DeclaredLimits): LimitDecorator {
  const decorate = (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    const decorated = descriptor ? descriptor.value : target
    if (typeof decorated !== 'function') throw misused(decorator, kindOf(decorated), 'a class or a method')
    declareLimits(decorated, word)
    if (workAtEnd(word)) bindFirst(decorated)
  }
  return rejectMounted(decorate, MOUNTING, PLACE, `the decorator @${decorator}`)
}

// mounted as middleware, the decorator itself would answer no request
for (const decorator of [RateLimit, InflightLimit, SlowDown, Shed, SkipLimits]) {
  rejectMounted(decorator, MOUNTING, PLACE, `the function ${decorator.name} itself`)
}

/** Rejects a decorator that is used without parentheses: it receives a class or its prototype as its options. */
function checked<T extends object | false>(decorator: string, limit: T, expected = 'options'): T {
  if (isPrototype(limit)) throw misused(decorator, 'no arguments', `${expected}, as in @${decorator}({ … })`)
  if (limit === false || (typeof limit === 'object' && limit !== null)) return limit
  throw misused(decorator, kindOf(limit), expected)
}

function isPrototype(value: unknown): boolean {
  const { constructor: of } = (value ?? {}) as { readonly constructor?: { readonly prototype?: unknown } }
  return of?.prototype === value
}

function misused(decorator: string, received: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `@${decorator}: expected ${expected}, received ${received}`)
}
