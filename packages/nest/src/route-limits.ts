import type { OnApplicationShutdown, OnModuleInit, Type } from '@nestjs/common'
import { MetadataScanner, type ModulesContainer } from '@nestjs/core'
import { LimitLayer, messageOf, type RequestLimit, sharing, warnOnce } from '@sluice/node-http'
import { layerAt, type NestLimitLayer } from './limit-place.ts'
import { wordsOn } from './limit-words.ts'
import { NamedPolicies } from './named-policies.ts'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { moduleOptions, type SluiceModuleOptions } from './sluice-options.ts'

type Limits = readonly RequestLimit<PlatformRequest, PlatformResponse>[]
// biome-ignore lint/complexity/noBannedTypes: how Nest types classes and handlers
type Callable = Function

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
export class RouteLimits implements OnModuleInit, OnApplicationShutdown {
  readonly #modules: ModulesContainer
  readonly #policies = new NamedPolicies()
  readonly #tops: NestLimitLayer[] = []
  #all: NestLimitLayer = LimitLayer.none()
  readonly #handlers = new Map<Callable, Map<Callable, HandlerLimits>>()
  readonly #classes = new Map<Callable, NestLimitLayer>()
  readonly #met = { rates: new WeakSet<object>(), caps: new WeakSet<object>() }
  /** Each import of the module is a provider of its own, and all of them are this one. */
  #checked = false
  readonly #names = new Map<string, Callable[]>()

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
    const scanner = new MetadataScanner()
    for (const { controllers, providers } of this.#modules.values()) {
      for (const { metatype } of [...controllers.values(), ...providers.values()]) {
        if (isClass(metatype)) this.#resolveAll(metatype, scanner.getAllMethodNames(metatype.prototype))
      }
    }
  }

  onApplicationShutdown(): void {
    for (const top of this.#tops) top.close()
  }

  /** True from the second time on: what is bound twice counts once. */
  met(life: object, part: keyof HandlerLimits): boolean {
    const before = this.#met[part].has(life)
    this.#met[part].add(life)
    return before
  }

  /** Never throws: where a class that came late says something wrong, what is above it holds. */
  of(owner: Callable, handler: Callable): HandlerLimits {
    const known = this.#handlers.get(owner)?.get(handler)
    if (known) return known
    try {
      return this.#resolve(owner, handler)
    } catch (error) {
      warnOnce('SLUICE_BAD_OPTION', () => `a limit is left out: ${messageOf(error)}`, messageOf(error))
      return this.#keep(owner, handler, this.#all)
    }
  }

  #add(options: SluiceModuleOptions): void {
    const { rateLimit, slowDown, inflightLimit } = options
    this.#policies.add(options)
    // a module that is imported once more stands below those before it
    const above =
      this.#tops.length > 0 ? this.#all : LimitLayer.none<PlatformRequest, PlatformResponse>([], sharing(options))
    const place = this.#tops.length > 0 ? `module ${this.#tops.length + 1}` : ''
    this.#all = above.below({ rateLimit, slowDown, inflightLimit }, place)
    this.#tops.push(this.#all)
  }

  #resolveAll(owner: Type, methods: readonly string[]): void {
    const handlers = methods.map((name) => owner.prototype[name] as Callable)
    const says = (place: object): boolean => wordsOn(place).length > 0
    if (!lineOf(owner).some(says) && !handlers.some(says)) return
    // a class that two modules provide is one
    for (const handler of handlers) if (!this.#handlers.get(owner)?.has(handler)) this.#resolve(owner, handler)
  }

  #resolve(owner: Callable, handler: Callable): HandlerLimits {
    const ofClass = this.#ofClass(owner)
    const words = wordsOn(handler)
    if (words.length === 0) return this.#keep(owner, handler, ofClass)
    const place = `${this.#nameOf(owner)}.${handler.name}`
    return this.#keep(owner, handler, layerAt(place, ofClass, words, this.#policies.named))
  }

  #keep(owner: Callable, handler: Callable, { rates, caps }: NestLimitLayer): HandlerLimits {
    const limits = { rates, caps }
    const ofOwner = this.#handlers.get(owner) ?? new Map<Callable, HandlerLimits>()
    this.#handlers.set(owner, ofOwner.set(handler, limits))
    return limits
  }

  /** What a base class says is said for each class that extends it, and is counted with that class. */
  #ofClass(owner: Callable): NestLimitLayer {
    const known = this.#classes.get(owner)
    if (known) return known
    const layer = lineOf(owner).reduce((above, one) => {
      const words = wordsOn(one)
      if (words.length === 0) return above
      const name = this.#nameOf(owner)
      return layerAt(one === owner ? name : `${name}<${one.name}`, above, words, this.#policies.named)
    }, this.#all)
    this.#classes.set(owner, layer)
    return layer
  }

  /** Equal in all processes that run the same code; two classes of one name are told apart. */
  #nameOf(owner: Callable): string {
    const alike = this.#names.get(owner.name) ?? []
    this.#names.set(owner.name, alike)
    if (!alike.includes(owner)) alike.push(owner)
    const index = alike.indexOf(owner)
    return index === 0 ? owner.name : `${owner.name}~${index + 1}`
  }
}

function isClass(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null
}

/** A class and those that it extends, the base first. */
function lineOf(owner: Callable): Callable[] {
  const base = Object.getPrototypeOf(owner)
  return typeof base === 'function' && base !== Function.prototype ? [...lineOf(base), owner] : [owner]
}
