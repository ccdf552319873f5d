import type { Type } from '@nestjs/common'
import { MetadataScanner, type ModulesContainer } from '@nestjs/core'

// biome-ignore lint/complexity/noBannedTypes: how Nest types classes and handlers
export type Callable = Function

/** A class that may have handlers: a controller, a resolver, a gateway. */
export interface HandlerClass {
  readonly owner: Type
  readonly methods: readonly Callable[]
}

/** Returns the controllers and providers of an application with their methods, after its modules have been scanned. */
export function handlerClasses(modules: ModulesContainer): HandlerClass[] {
  const scanner = new MetadataScanner()
  const known = [...modules.values()].flatMap(({ controllers, providers }) => [
    ...controllers.values(),
    ...providers.values(),
  ])
  return known.flatMap(({ metatype }) => {
    if (!isClass(metatype)) return []
    const { prototype } = metatype
    return { owner: metatype, methods: scanner.getAllMethodNames(prototype).map((name) => prototype[name] as Callable) }
  })
}

/** Returns a class and its base classes, the outermost base first. */
export function classChainOf(owner: Callable): Callable[] {
  const base = Object.getPrototypeOf(owner)
  return typeof base === 'function' && base !== Function.prototype ? [...classChainOf(base), owner] : [owner]
}

function isClass(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null
}
