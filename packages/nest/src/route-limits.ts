import type { BeforeApplicationShutdown, OnApplicationShutdown, OnModuleInit } from '@nestjs/common'
import type { ModulesContainer } from '@nestjs/core'
import {
  type HttpLimit,
  InHandlerDetector,
  LimitLayer,
  messageOf,
  RouteScopeNames,
  sharing,
  warnOnce,
} from '@sluice/node-http/adapter'
import { type Callable, type HandlerClass, handlerClasses, lineOf } from './handler-classes.ts'
import { layerAt, type NestLimitLayer } from './layer-at.ts'
import { type LimitWord, wordsOn } from './limit-words.ts'
import { NamedPolicies } from './named-policies.ts'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { moduleOptions, type SluiceModuleOptions } from './sluice-options.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]
type Words = readonly LimitWord[]

/** What holds for one handler. */
export interface HandlerLimits {
  /** Of rates and of speed, for the guard. */
  readonly rates: Limits
  /** For the interceptor. */
  readonly caps: Limits
}

const applications = new WeakMap<ModulesContainer, RouteLimits>()

/**
 * The limits of an application by handler: what its method says over what its class says over what the module says.
 * However often the module is imported, an application has one of these, so that no request counts twice.
 */
export class RouteLimits implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #modules: ModulesContainer
  readonly #policies = new NamedPolicies()
  readonly #tops: NestLimitLayer[] = []
  #all: NestLimitLayer = LimitLayer.none()
  /**
   * By class and by what the handler says, not by the handler: of controllers that are made for each request a tracer
   * wraps every one anew, and copies what was said.
   */
  readonly #handlers = new WeakMap<Callable, Map<Words, HandlerLimits>>()
  readonly #classes = new Map<Callable, NestLimitLayer>()
  /** Marks on the lives of requests; of this application alone. */
  readonly #met = { rates: Symbol('rates met'), caps: Symbol('caps met') }
  /** Each import of the module is a provider of its own, and all of them are this one. */
  #checked = false
  /** Equal in all processes that run the same code; two classes of one name are told apart. */
  readonly #names = new RouteScopeNames()

  /** The one of an application, which these options join. Throws coded errors. */
  static join(modules: ModulesContainer, options: SluiceModuleOptions): RouteLimits {
    const limits = applications.get(modules) ?? new RouteLimits(modules)
    applications.set(modules, limits)
    limits.#add(moduleOptions(options))
    return limits
  }

  private constructor(modules: ModulesContainer) {
    this.#modules = modules
  }

  /** Throws coded errors for whatever is said wrong anywhere in the application. */
  onModuleInit(): void {
    if (this.#checked) return
    this.#checked = true
    // also of those that nobody names
    for (const options of this.#policies.all) this.#all.below({ rateLimit: options }, 'policies').close()
    for (const one of handlerClasses(this.#modules)) this.#resolveAll(one)
  }

  /** Who waits goes on before the server waits for its last answers. */
  beforeApplicationShutdown(): void {
    for (const top of this.#tops) top.letGo()
  }

  onApplicationShutdown(): void {
    for (const top of this.#tops) top.close()
  }

  /** True from the second time on: what is bound twice counts once. */
  met(life: object, part: keyof HandlerLimits): boolean {
    const marks = life as Record<symbol, true | undefined>
    const mark = this.#met[part]
    if (marks[mark]) return true
    marks[mark] = true
    return false
  }

  /** Never throws: where a class that came late says something wrong, what is above it holds. */
  of(owner: Callable, handler: Callable): HandlerLimits {
    const words = wordsOn(handler)
    const known = this.#handlers.get(owner)?.get(words)
    if (known) return known
    try {
      return InHandlerDetector.late(() => this.#resolve(owner, handler))
    } catch (error) {
      warnOnce('SLUICE_BAD_OPTION', () => `a limit is left out: ${messageOf(error)}`, messageOf(error))
      return this.#keep(owner, words, this.#all)
    }
  }

  #add(options: SluiceModuleOptions): void {
    const { rateLimit, slowDown, inflightLimit } = options
    this.#policies.add(options)
    // a module that is imported once more stands below those before it
    const above =
      this.#tops.length > 0 ? this.#all : LimitLayer.none<PlatformRequest, PlatformResponse>([], sharing(options))
    const routeScope = this.#tops.length > 0 ? `module ${this.#tops.length + 1}` : ''
    this.#all = above.below({ rateLimit, slowDown, inflightLimit }, routeScope)
    this.#tops.push(this.#all)
  }

  #resolveAll({ owner, methods }: HandlerClass): void {
    const hasWords = (target: object): boolean => wordsOn(target).length > 0
    if (!lineOf(owner).some(hasWords) && !methods.some(hasWords)) return
    // a class that two modules provide is one
    for (const handler of methods) {
      if (!this.#handlers.get(owner)?.has(wordsOn(handler))) this.#resolve(owner, handler)
    }
  }

  #resolve(owner: Callable, handler: Callable): HandlerLimits {
    const ofClass = this.#ofClass(owner)
    const words = wordsOn(handler)
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

  /** What a base class says is said for each class that extends it, and is counted with that class. */
  #ofClass(owner: Callable): NestLimitLayer {
    const known = this.#classes.get(owner)
    if (known) return known
    const layer = lineOf(owner).reduce((above, one) => {
      const words = wordsOn(one)
      if (words.length === 0) return above
      const name = this.#names.of(owner.name, owner)
      return layerAt(one === owner ? name : `${name}<${one.name}`, above, words, this.#policies.named)
    }, this.#all)
    this.#classes.set(owner, layer)
    return layer
  }
}
