import type { BeforeApplicationShutdown, OnApplicationShutdown, OnModuleInit } from '@nestjs/common'
import type { ModulesContainer } from '@nestjs/core'
import {
  compileSharedOptions,
  LimitLayer,
  processWideMap,
  RouteScopeNames,
  SluiceError,
  warnOnce,
} from '@sluice/node-http/adapter'
import { declaredLimitsOf } from './declared-limits.ts'
import { type CallKind, FIELD, HTTP, SOCKET } from './exchange/call-kind.ts'
import type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
import { type Callable, classChainOf, type HandlerClass, handlerClasses } from './handler-classes.ts'
import { HandlerLayers } from './handler-layers.ts'
import type { HandlerLimits, NestLimitLayer } from './layer-at.ts'
import { workAtEnd } from './limits-at-end.ts'
import { NamedPolicies } from './named-policies.ts'
import { limitsIn, moduleOptions, type SluiceModuleOptions } from './sluice-options.ts'

const applications = processWideMap<ModulesContainer, RouteLimits>(Symbol.for('sluice.nest.applications@1'))

/** Marks on the lifecycles of requests, with the limits that have been checked. */
const MET = { rates: Symbol.for('sluice.nest.rates@1'), caps: Symbol.for('sluice.nest.caps@1') } as const

type Marks = Record<symbol, RouteLimits | undefined>

/**
 * The limits of an application, by kind of call and handler. A method overrides its class, and a class overrides the
 * module. All imports of the module in an application share one instance, so that no request is counted twice.
 */
export class RouteLimits implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #modules: ModulesContainer
  readonly #policies = new NamedPolicies()
  readonly #imports: SluiceModuleOptions[] = []
  /** The outermost layer, without limits, and the layer of the module for each kind of call. */
  #root: NestLimitLayer = LimitLayer.root()
  readonly #tops = new Map<CallKind, NestLimitLayer>()
  readonly #kinds = new Map<CallKind, HandlerLayers>()
  /** Whether `onModuleInit` has run: Nest calls it for each import of the module. */
  #checked = false
  /** Whether a class or a method declares limits. */
  #isDecorated = false
  /** Whether a limit of the module may have work to do at the end of a call, for which the interceptor is needed. */
  #hasWorkAtEnd = false
  #isIntercepted = false
  /** Distinguishes classes with the same name; equal in all processes that run the same code. */
  readonly #names = new RouteScopeNames()

  /** Adds the options of one import to the limits of the application, and returns them. Throws coded errors. */
  static join(modules: ModulesContainer, options: SluiceModuleOptions): RouteLimits {
    const limits = applications().get(modules) ?? new RouteLimits(modules)
    applications().set(modules, limits)
    limits.add(moduleOptions(options))
    return limits
  }

  /** Returns the limits whose guard has checked a request; undefined if none has. */
  static ofGuarded(life: object): RouteLimits | undefined {
    return (life as Marks)[MET.rates]
  }

  private constructor(modules: ModulesContainer) {
    this.#modules = modules
  }

  /** Validates the limits of all classes. Throws coded errors. */
  onModuleInit(): void {
    if (this.#checked) return
    this.#checked = true
    // validates policies that no decorator uses, too
    for (const options of this.#policies.all) this.#topOf(HTTP).extend({ rateLimit: options }, 'policies').close()
    for (const one of handlerClasses(this.#modules)) this.#resolveAll(one)
    this.#checkUnused()
  }

  /** Throws if policies are all that the module has, and no decorator uses any: they would limit nothing. */
  #checkUnused(): void {
    const unused = this.#policies.whyUnused()
    if (unused === undefined) return
    const isLimited = [...this.#tops.values()].some(({ limits }) => limits.length > 0)
    if (!isLimited && !this.#isDecorated) throw new SluiceError('SLUICE_BAD_OPTION', unused)
    warnOnce('SLUICE_BAD_OPTION', `${unused}; they limit nothing`, unused)
  }

  /** Releases delayed requests before the server waits for its last responses. */
  beforeApplicationShutdown(): void {
    this.#root.releaseDelayed()
  }

  onApplicationShutdown(): void {
    this.#root.close()
  }

  /** Returns true if the request has been checked before, so that a guard or interceptor bound twice counts once. */
  met(life: object, part: keyof HandlerLimits): boolean {
    const marks = life as Marks
    if (marks[MET[part]] === this) return true
    marks[MET[part]] = this
    return false
  }

  /** Returns true once, if all calls of the application need the interceptor because of a limit of the module. */
  claimInterceptor(): boolean {
    if (this.#isIntercepted || !this.#hasWorkAtEnd) return false
    this.#isIntercepted = true
    return true
  }

  /** Returns the limits of a handler for a kind of call. Never throws. */
  of(kind: CallKind, owner: Callable, handler: Callable): HandlerLimits {
    return this.#layersOf(kind).of(owner, handler)
  }

  /** Adds the options of one import. Throws coded errors. */
  add(options: SluiceModuleOptions): void {
    this.#policies.add(options)
    this.#hasWorkAtEnd ||= workAtEnd(options)
    const isFirst = this.#imports.push(options) === 1
    if (isFirst) this.#root = LimitLayer.root<PlatformRequest, PlatformResponse>([], compileSharedOptions(options))
    // a later import inherits the limits of the earlier ones
    const routeScope = isFirst ? '' : `module ${this.#imports.length}`
    this.#tops.set(HTTP, this.#topOf(HTTP).extend(limitsIn(options), routeScope))
    for (const [kind, limits] of Object.entries(options.contexts ?? {})) {
      const above = this.#tops.get(kind) ?? this.#root
      this.#tops.set(kind, above.extend(limits, `${kind} ${routeScope}`.trim()))
    }
  }

  /** Returns the layer of the module for a kind of call; without limits, unless an import declares some. */
  #topOf(kind: CallKind): NestLimitLayer {
    const known = this.#tops.get(kind)
    if (known) return known
    if (kind !== SOCKET) return this.#root
    // gateways that bind the guard have the limits of the module, with counts of their own
    const top = this.#imports.reduce((layer, own) => layer.extend(limitsIn(own, kind), kind), this.#root)
    this.#tops.set(kind, top)
    return top
  }

  #layersOf(kind: CallKind): HandlerLayers {
    const known = this.#kinds.get(kind)
    if (known) return known
    const layers = new HandlerLayers({
      top: () => this.#topOf(kind),
      prefix: kind === HTTP ? '' : `${kind} `,
      names: this.#names,
      policyNamed: this.#policies.named,
      classes: kind !== FIELD,
    })
    this.#kinds.set(kind, layers)
    return layers
  }

  #resolveAll({ owner, methods }: HandlerClass): void {
    const hasWords = (target: object): boolean => declaredLimitsOf(target).length > 0
    if (!classChainOf(owner).some(hasWords) && !methods.some(hasWords)) return
    this.#isDecorated = true
    const layers = this.#layersOf(HTTP)
    // two modules may provide the same class
    for (const handler of methods) if (!layers.has(owner, handler)) layers.resolve(owner, handler)
  }
}
