import { kindOf, SluiceError } from '@sluice/limiter-core/http'
import { type AnyHandler, limitedMethod, type Wrapping } from './limited-method.ts'

/** A method that a framework calls with `Args`. Written as a method, so that it may ask for a narrower request. */
type HandlerMethod<Args extends readonly unknown[]> = { handle(...args: Args): unknown }['handle']

/** Decorates handlers, of instances or static, as a standard decorator and under `experimentalDecorators`. */
export interface LimitDecorator<Args extends readonly unknown[]> {
  <This, Method extends HandlerMethod<Args>>(method: Method, context: ClassMethodDecoratorContext<This, Method>): Method
  /** A field that holds a handler. Under `experimentalDecorators` fields cannot be decorated. */
  <This, Method extends HandlerMethod<Args>>(
    nothing: undefined,
    context: ClassFieldDecoratorContext<This, Method>,
  ): (initial: Method) => Method
  <Method extends HandlerMethod<Args>>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): TypedPropertyDescriptor<Method>
}

/** What standard decorators are told of what they decorate. */
type Context = Pick<DecoratorContext, 'kind' | 'name'>

const EXPECTED = 'expected a method that handles requests'

/**
 * A decorator named `word`. `limitFor` makes the limit of one decorated method, which all instances share. Throws
 * `SLUICE_BAD_OPTION` where it stands on anything else than a handler.
 */
export function limitDecorator<Args extends readonly unknown[]>(
  word: string,
  limitFor: () => Wrapping,
): LimitDecorator<Args> {
  const decorate = (value: unknown, context: unknown, descriptor: unknown): unknown =>
    isContext(context)
      ? standard({ word, limitFor }, value, context)
      : legacy({ word, limitFor }, context, descriptor as Partial<PropertyDescriptor> | undefined)
  return decorate as LimitDecorator<Args>
}

interface Decoration {
  readonly word: string
  limitFor(): Wrapping
}

function isContext(context: unknown): context is Context {
  return typeof context === 'object' && context !== null && 'kind' in context
}

function standard({ word, limitFor }: Decoration, value: unknown, { kind, name }: Context): unknown {
  const label = labelOf(word, name)
  if (kind === 'method') return limitedMethod(limitFor(), value as AnyHandler, label)
  if (kind !== 'field')
    throw refused(label, kind === 'accessor' ? 'an accessor' : `a ${kind}`, `${EXPECTED}, or a field that holds one`)
  const limit = limitFor()
  return (initial: unknown) => {
    if (typeof initial === 'function') return limitedMethod(limit, initial as AnyHandler, label)
    throw refused(label, `a field that holds ${kindOf(initial)}`, 'expected one that holds a handler')
  }
}

function legacy({ word, limitFor }: Decoration, name: unknown, descriptor?: Partial<PropertyDescriptor>): unknown {
  const label = labelOf(word, name)
  const method: unknown = descriptor?.value
  if (typeof method === 'function') {
    return { ...descriptor, value: limitedMethod(limitFor(), method as AnyHandler, label) }
  }
  if (name === undefined) throw refused(label, 'a class or the parameter of a constructor', EXPECTED)
  if (typeof descriptor === 'number') throw refused(label, 'a parameter', EXPECTED)
  if (descriptor?.get || descriptor?.set) throw refused(label, 'an accessor', EXPECTED)
  const instead = `${String(name)}(…) { … } instead of ${String(name)} = (…) => { … }`
  throw refused(label, 'a field, whose value experimentalDecorators do not show', `${EXPECTED}: write ${instead}`)
}

function labelOf(word: string, name: unknown): string {
  return name === undefined ? `@${word}` : `@${word} ${String(name)}`
}

function refused(label: string, got: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${label}: got ${got}, ${expected}`)
}
