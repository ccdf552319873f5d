import type { Type } from '@nestjs/common'
import { MetadataScanner, type ModulesContainer } from '@nestjs/core'

// biome-ignore lint/complexity/noBannedTypes: how Nest types classes and handlers
export type Callable = Function

/** A class that may have handlers: a controller, a resolver, a gateway. */
export interface HandlerClass {
  readonly owner: Type
  readonly methods: readonly Callable[]
}

/** The classes of an application, as they stand once its modules are scanned. */
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

/** A class and those that it extends, the base first. */
export function lineOf(owner: Callable): Callable[] {
  const base = Object.getPrototypeOf(owner)
  return typeof base === 'function' && base !== Function.prototype ? [...lineOf(base), owner] : [owner]
}

function isClass(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null
}
