import { InHandlerDetector, messageOf, type RouteScopeNames, warnOnce } from '@sluice/node-http/adapter'
import { type DeclaredLimits, declaredLimitsOf } from './declared-limits.ts'
import { type Callable, classChainOf } from './handler-classes.ts'
import { type HandlerLimits, layerAt, type NestLimitLayer, type PolicyNamed } from './layer-at.ts'

type Declared = readonly DeclaredLimits[]

/** The layer that handlers inherit, and the names of their counts. */
interface HandlerLayersOptions {
  /** Returns the layer that all classes inherit. */
  readonly top: () => NestLimitLayer
  /** Start of the route scopes, different for each kind of call, so that each has its own counts. */
  readonly prefix: string
  /** Distinguishes classes with the same name. */
  readonly names: RouteScopeNames
  readonly policyNamed: PolicyNamed
  /** Whether the decorators of classes apply. Default: true. */
  readonly classes?: boolean
}

/** The limits of handlers for one kind of call. A method overrides its class, and a class overrides the top layer. */
export class HandlerLayers {
  readonly #options: HandlerLayersOptions
  /**
   * Cached by class and by the list of decorators, not by handler: for controllers created per request, a tracer wraps
   * each handler again and copies the list.
   */
  readonly #handlers = new WeakMap<Callable, Map<Declared, HandlerLimits>>()
  readonly #classes = new Map<Callable, NestLimitLayer>()

  constructor(options: HandlerLayersOptions) {
    this.#options = options
  }

  /** Returns the limits of a handler. Never throws: invalid limits found after start-up are ignored with a warning. */
  of(owner: Callable, handler: Callable): HandlerLimits {
    const declared = declaredLimitsOf(handler)
    const known = this.#handlers.get(owner)?.get(declared)
    if (known) return known
    try {
      return InHandlerDetector.suppress(() => this.resolve(owner, handler))
    } catch (error) {
      const message = `invalid limits of a handler are ignored, and the limits of the module apply: ${messageOf(error)}`
      warnOnce('SLUICE_BAD_OPTION', message, messageOf(error))
      return this.#keep(owner, declared, this.#options.top())
    }
  }

  /** Whether the limits of a handler are known. */
  has(owner: Callable, handler: Callable): boolean {
    return this.#handlers.get(owner)?.has(declaredLimitsOf(handler)) ?? false
  }

  /** Creates the limits of a handler. Throws coded errors. */
  resolve(owner: Callable, handler: Callable): HandlerLimits {
    const { policyNamed, classes = true, top } = this.#options
    const above = classes ? this.#ofClass(owner) : top()
    const declared = declaredLimitsOf(handler)
    if (declared.length === 0) return this.#keep(owner, declared, above)
    return this.#keep(owner, declared, layerAt(`${this.#nameOf(owner)}.${handler.name}`, above, declared, policyNamed))
  }

  #keep(owner: Callable, declared: Declared, { rates, caps }: NestLimitLayer): HandlerLimits {
    const limits = { rates, caps }
    const ofOwner = this.#handlers.get(owner) ?? new Map<Declared, HandlerLimits>()
    this.#handlers.set(owner, ofOwner.set(declared, limits))
    return limits
  }

  /** Returns the layer of a class. It inherits the decorators of its base classes, but not their counts. */
  #ofClass(owner: Callable): NestLimitLayer {
    const known = this.#classes.get(owner)
    if (known) return known
    const layer = classChainOf(owner).reduce((above, one) => {
      const declared = declaredLimitsOf(one)
      if (declared.length === 0) return above
      const name = this.#nameOf(owner)
      return layerAt(one === owner ? name : `${name}<${one.name}`, above, declared, this.#options.policyNamed)
    }, this.#options.top())
    this.#classes.set(owner, layer)
    return layer
  }

  #nameOf(owner: Callable): string {
    const { prefix, names } = this.#options
    return `${prefix}${names.of(owner.name, owner)}`
  }
}
