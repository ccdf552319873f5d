import { kindOf, SluiceError } from '@sluice/limiter-core/http'
import { type AnyHandler, isShownRequest, limitedMethod, type Wrapping } from './limited-method.ts'

/** A method that a framework calls with `Args`. Method syntax permits parameters with narrower request types. */
type HandlerMethod<Args extends readonly unknown[]> = { handle(...args: Args): unknown }['handle']

/** Decorates instance and static handlers, as a standard decorator and under `experimentalDecorators`. */
export interface LimitDecorator<Args extends readonly unknown[]> {
  <This, Method extends HandlerMethod<Args>>(method: Method, context: ClassMethodDecoratorContext<This, Method>): Method
  /** Decorates a field that holds a handler; not possible under `experimentalDecorators`. */
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

type Context = Pick<DecoratorContext, 'kind' | 'name'>

const EXPECTED = 'a method that handles requests'

/**
 * Creates a decorator named `word`. `limitFor` creates the limit of one decorated method, shared by all instances. The
 * decorator throws `SLUICE_BAD_OPTION` for anything but a handler.
 */
export function limitDecorator<Args extends readonly unknown[]>(
  word: string,
  limitFor: () => Wrapping,
): LimitDecorator<Args> {
  const decorate = (value: unknown, context: unknown, descriptor: unknown): unknown => {
    if (isContext(context)) return standard({ word, limitFor }, value, context)
    if (isShownRequest([value, context])) throw refused(`@${word}`, 'a request', `${EXPECTED}, not a middleware`)
    return legacy({ word, limitFor }, context, descriptor as Partial<PropertyDescriptor> | undefined)
  }
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
    throw refused(label, `a field that holds ${kindOf(initial)}`, 'a field that holds a handler')
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
  throw refused(label, 'a field, whose value experimentalDecorators does not expose', `${EXPECTED} (write ${instead})`)
}

function labelOf(word: string, name: unknown): string {
  return name === undefined ? `@${word}` : `@${word} ${String(name)}`
}

function refused(label: string, received: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${label}: expected ${expected}, received ${received}`)
}
