import type { PolicyDocument } from '@sluice/policies'
import { parse, type Token } from 'path-to-regexp'
import { METHOD_AND_PATH, withNamedWildcard } from '../log/route-matcher.ts'
import { routesOf } from '../replay/policy-file.ts'

/** Texts in conditions that are probably routes. */
const QUOTED_ROUTE = /(['"])((?:[A-Z]+ )?\/[^'"]*)\1/g
const PARAMETER = /\{[^{}]*\}/g
/** Stands for each parameter of a path. */
const ANY = '{}'
/** Most forms of a route with optional parts. */
const MAX_FORMS = 64

/** Finds the routes that policies name for paths of a description: `GET /teams/:team` for `/teams/{id}`. */
export class RouteSpellings {
  /** Routes by method (empty for all methods) and path, in which each parameter is `{}`. */
  readonly #byPath = new Map<string, string[]>()
  readonly #found = new Set<string>()
  readonly #named: readonly string[]

  constructor(document: PolicyDocument) {
    this.#named = routesOf({ document })
    const quoted = document.policies.flatMap(({ when = '' }) =>
      [...when.matchAll(QUOTED_ROUTE)].map(([, , route]) => route),
    )
    for (const route of new Set([...this.#named, ...quoted])) {
      const [, method = '', path] = METHOD_AND_PATH.exec(route) ?? []
      for (const form of path === undefined ? [] : formsOf(path)) {
        const id = `${method === '*' ? '' : method} ${form}`
        this.#byPath.set(id, [...(this.#byPath.get(id) ?? []), route])
      }
    }
  }

  /** Routes in `match` of the policies that no path was found for. */
  get unused(): readonly string[] {
    return this.#named.filter((route) => !this.#found.has(route))
  }

  /**
   * Returns the route of an operation as the application may declare it. `bases`: paths in front of the path of the
   * operation; the first one with a route of the policies applies.
   */
  of(method: string, path: string, bases: readonly string[]): readonly string[] {
    const counted = method === 'HEAD' ? 'GET' : method
    for (const base of bases) {
      const form = normalized(`${base}${path}`.replace(PARAMETER, ANY))
      const routes = [...(this.#byPath.get(`${counted} ${form}`) ?? []), ...(this.#byPath.get(` ${form}`) ?? [])]
      for (const route of routes) this.#found.add(route)
      if (routes.length > 0) return routes
    }
    return bases.map((base) => `${counted} ${base}${path.replaceAll(/\{([^{}]*)\}/g, ':$1')}`)
  }
}

/** Returns the paths that fit a route, one for each choice of its optional parts. */
function formsOf(path: string): readonly string[] {
  try {
    return [...new Set(expanded(parse(withNamedWildcard(path)).tokens).map(normalized))]
  } catch {
    // a pattern of another framework, such as /files/:name(\\d+)
    return [normalized(path.replaceAll(/:\w+(\([^()]*\))?\??/g, ANY))]
  }
}

function expanded(tokens: readonly Token[]): string[] {
  let forms = ['']
  for (const token of tokens) {
    const choices =
      token.type === 'text' ? [token.value] : token.type === 'group' ? ['', ...expanded(token.tokens)] : [ANY]
    forms = forms.flatMap((form) => choices.map((choice) => form + choice)).slice(0, MAX_FORMS)
  }
  return forms
}

/** Routers ignore the case of a path and a slash at its end. */
function normalized(path: string): string {
  return (path.length > 1 ? path.replace(/\/+$/, '') : path).toLowerCase()
}
