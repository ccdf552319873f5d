import {
  allOf,
  andThen,
  byIp,
  isPromise,
  type KeySource,
  type LimiterReport,
  type MaybePromise,
  type ReportFallback,
  type RequestView,
  reportUnlessPreflight,
  resolveKey,
} from '@sluice/http'
import type { AttributeValue } from '../document/policy-document.ts'
import {
  type AttributeSource,
  type BUILT_IN_ATTRIBUTES,
  countedMethod,
  headerOf,
} from '../matching/attribute-source.ts'

let byAddress: KeySource | undefined

/**
 * Returns an attribute of a request, or of its response once there is one. Undefined, null, and a function that throws
 * or rejects mean that the request does not have the attribute.
 */
export type AttributeFunction<Req, Res> = (
  request: Req,
  response?: Res,
) => MaybePromise<AttributeValue | null | undefined>

/** Functions by name of the attribute that they return. */
export type AttributeFunctions<Req, Res> = Readonly<Record<string, AttributeFunction<Req, Res>>>

/** Reads the attributes of requests that policies need. */
export class RequestAttributes<Req, Res> {
  readonly #functions: ReadonlyMap<string, AttributeFunction<Req, Res>>
  /** Names of the functions that are called when a request arrives. */
  readonly #names: readonly string[]
  readonly #report: LimiterReport

  /** `names`: the attributes that policies read when a request arrives. */
  constructor(functions: AttributeFunctions<Req, Res>, names: readonly string[], report: LimiterReport) {
    this.#functions = new Map(Object.entries(functions))
    this.#names = names.filter((name) => this.#functions.has(name))
    this.#report = report
  }

  /** Returns the attributes of a request. Synchronous if the functions are. `fallback` receives doubts about its address. */
  of(view: RequestView<Req>, fallback: ReportFallback): MaybePromise<AttributeSource> {
    const names = this.#names
    const report = reportUnlessPreflight(view, this.#report)
    const values = allOf(names.map((name) => this.value(name, report, view.raw)))
    return andThen(values, (all) => {
      const known = new Map(names.map((name, index) => [name, all[index]]))
      return (name) => (known.has(name) ? known.get(name) : builtIn(name, view, fallback))
    })
  }

  /** Returns what the function of an attribute returns; undefined if there is none, or if it fails. */
  value(
    name: string,
    report: LimiterReport | undefined,
    request: Req,
    response?: Res,
  ): MaybePromise<AttributeValue | undefined> {
    const failed = (error: unknown): undefined => {
      report?.hookFailed(`attribute '${name}'`, error, 'the request counts as one without the attribute')
    }
    try {
      const value = this.#functions.get(name)?.(request, response)
      return isPromise(value) ? Promise.resolve(value).then(valid, failed) : valid(value)
    } catch (error) {
      return failed(error)
    }
  }
}

function valid(value: unknown): AttributeValue | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function builtIn(name: string, view: RequestView, fallback: ReportFallback): string | undefined {
  const header = headerOf(name)
  if (header !== undefined) return view.header(header)
  switch (name as (typeof BUILT_IN_ATTRIBUTES)[number]) {
    case 'address':
      byAddress ??= byIp()
      return resolveKey(byAddress, view, fallback) as string
    case 'method':
      return countedMethod(view.method)
    case 'route':
      return view.route === undefined ? undefined : `${view.routeMethod ?? '*'} ${view.route}`
    default:
      return undefined
  }
}
