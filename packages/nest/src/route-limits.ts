import type { BeforeApplicationShutdown, OnApplicationShutdown, OnModuleInit } from '@nestjs/common'
import type { ModulesContainer } from '@nestjs/core'
import {
  compileSharedOptions,
  type HttpLimit,
  InHandlerDetector,
  LimitLayer,
  messageOf,
  processWideMap,
  RouteScopeNames,
  SluiceError,
  warnOnce,
} from '@sluice/node-http/adapter'
import { type Callable, classChainOf, type HandlerClass, handlerClasses } from './handler-classes.ts'
import { layerAt, type NestLimitLayer } from './layer-at.ts'
import { type DeclaredLimits, declaredLimitsOf } from './limit-decorators.ts'
import { NamedPolicies } from './named-policies.ts'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { moduleOptions, type SluiceModuleOptions } from './sluice-options.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]
type Words = readonly DeclaredLimits[]

/** Limits of one handler. */
export interface HandlerLimits {
  /** Load shedding, rate limits and slow-downs, checked by the guard. */
  readonly rates: Limits
  /** Caps, checked by the interceptor. */
  readonly caps: Limits
}

const applications = processWideMap<ModulesContainer, RouteLimits>(Symbol.for('sluice.nest.applications@1'))

/**
 * The limits of an application, by handler. A method overrides its class, and a class overrides the module. All imports
 * of the module in an application share one instance, so that no request is counted twice.
 */
export class RouteLimits implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #modules: ModulesContainer
  readonly #policies = new NamedPolicies()
  readonly #tops: NestLimitLayer[] = []
  #all: NestLimitLayer = LimitLayer.root()
  /**
   * Cached by class and by the list of decorators, not by handler: for controllers created per request, a tracer wraps
   * each handler again and copies the list.
   */
  readonly #handlers = new WeakMap<Callable, Map<Words, HandlerLimits>>()
  readonly #classes = new Map<Callable, NestLimitLayer>()
  /** Marks on the lifecycles of requests that this application has checked. */
  readonly #met = { rates: Symbol('rates met'), caps: Symbol('caps met') }
  /** Whether `onModuleInit` has run: Nest calls it for each import of the module. */
  #checked = false
  /** Whether a class or a method declares limits. */
  #isDecorated = false
  /** Distinguishes classes with the same name; equal in all processes that run the same code. */
  readonly #names = new RouteScopeNames()

  /** Adds the options of one import to the limits of the application, and returns them. Throws coded errors. */
  static join(modules: ModulesContainer, options: SluiceModuleOptions): RouteLimits {
    const limits = applications().get(modules) ?? new RouteLimits(modules)
    applications().set(modules, limits)
    limits.add(moduleOptions(options))
    return limits
  }

  private constructor(modules: ModulesContainer) {
    this.#modules = modules
  }

  /** Validates the limits of all classes. Throws coded errors. */
  onModuleInit(): void {
    if (this.#checked) return
    this.#checked = true
    // validates policies that no decorator uses, too
    for (const options of this.#policies.all) this.#all.extend({ rateLimit: options }, 'policies').close()
    for (const one of handlerClasses(this.#modules)) this.#resolveAll(one)
    this.#checkUnused()
  }

  /** Throws if policies are all that the module has, and no decorator uses any: they would limit nothing. */
  #checkUnused(): void {
    const unused = this.#policies.whyUnused()
    if (unused === undefined) return
    if (this.#all.limits.length === 0 && !this.#isDecorated) throw new SluiceError('SLUICE_BAD_OPTION', unused)
    warnOnce('SLUICE_BAD_OPTION', `${unused}; they limit nothing`, unused)
  }

  /** Releases delayed requests before the server waits for its last responses. */
  beforeApplicationShutdown(): void {
    for (const top of this.#tops) top.releaseDelayed()
  }

  onApplicationShutdown(): void {
    for (const top of this.#tops) top.close()
  }

  /** Returns true if the request has been checked before, so that a guard or interceptor bound twice counts once. */
  met(life: object, part: keyof HandlerLimits): boolean {
    const marks = life as Record<symbol, true | undefined>
    const mark = this.#met[part]
    if (marks[mark]) return true
    marks[mark] = true
    return false
  }

  /** Returns the limits of a handler. Never throws: invalid limits found after start-up are ignored with a warning. */
  of(owner: Callable, handler: Callable): HandlerLimits {
    const words = declaredLimitsOf(handler)
    const known = this.#handlers.get(owner)?.get(words)
    if (known) return known
    try {
      return InHandlerDetector.suppress(() => this.#resolve(owner, handler))
    } catch (error) {
      const message = `invalid limits of a handler are ignored, and the limits of the module apply: ${messageOf(error)}`
      warnOnce('SLUICE_BAD_OPTION', message, messageOf(error))
      return this.#keep(owner, words, this.#all)
    }
  }

  /** Adds the options of one import. Throws coded errors. */
  add(options: SluiceModuleOptions): void {
    const { shed, rateLimit, slowDown, inflightLimit } = options
    this.#policies.add(options)
    // a later import inherits the limits of the earlier ones
    const above =
      this.#tops.length > 0
        ? this.#all
        : LimitLayer.root<PlatformRequest, PlatformResponse>([], compileSharedOptions(options))
    const routeScope = this.#tops.length > 0 ? `module ${this.#tops.length + 1}` : ''
    this.#all = above.extend({ shed, rateLimit, slowDown, inflightLimit }, routeScope)
    this.#tops.push(this.#all)
  }

  #resolveAll({ owner, methods }: HandlerClass): void {
    const hasWords = (target: object): boolean => declaredLimitsOf(target).length > 0
    if (!classChainOf(owner).some(hasWords) && !methods.some(hasWords)) return
    this.#isDecorated = true
    // two modules may provide the same class
    for (const handler of methods) {
      if (!this.#handlers.get(owner)?.has(declaredLimitsOf(handler))) this.#resolve(owner, handler)
    }
  }

  #resolve(owner: Callable, handler: Callable): HandlerLimits {
    const ofClass = this.#ofClass(owner)
    const words = declaredLimitsOf(handler)
    if (words.length === 0) return this.#keep(owner, words, ofClass)
    const routeScope = `${this.#names.of(owner.name, owner)}.${handler.name}`
    return this.#keep(owner, words, layerAt(routeScope, ofClass, words, this.#policies.named))
  }

  #keep(owner: Callable, words: Words, { rates, caps }: NestLimitLayer): HandlerLimits {
    const limits = { rates, caps }
    const ofOwner = this.#handlers.get(owner) ?? new Map<Words, HandlerLimits>()
    this.#handlers.set(owner, ofOwner.set(words, limits))
    return limits
  }

  /** Returns the layer of a class. It inherits the decorators of its base classes, but not their counts. */
  #ofClass(owner: Callable): NestLimitLayer {
    const known = this.#classes.get(owner)
    if (known) return known
    const layer = classChainOf(owner).reduce((above, one) => {
      const words = declaredLimitsOf(one)
      if (words.length === 0) return above
      const name = this.#names.of(owner.name, owner)
      return layerAt(one === owner ? name : `${name}<${one.name}`, above, words, this.#policies.named)
    }, this.#all)
    this.#classes.set(owner, layer)
    return layer
  }
}
