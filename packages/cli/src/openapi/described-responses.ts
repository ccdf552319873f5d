import type { YAMLMap } from 'yaml'
import { DENIALS, reference } from './denial-responses.ts'
import type { Report } from './description-finding.ts'
import type { MapEdits } from './map-edits.ts'
import type { Operation } from './operations.ts'
import { isGenerated, type Part } from './rate-headers.ts'
import type { YamlText } from './yaml-text.ts'

/** Definitions of headers by name: of all responses, and further ones of denials. */
export interface HeaderParts {
  readonly all: ReadonlyMap<string, Part>
  readonly denied: ReadonlyMap<string, Part>
}

/** Components that the description needs. */
export interface UsedComponents {
  /** Statuses whose response is a component of `sluice openapi`. */
  readonly denials: ReadonlySet<string>
  readonly headers: ReadonlySet<string>
  /** The definition of `Access-Control-Allow-Origin`, if responses of the description have it. */
  readonly allowOrigin: unknown
}

interface Denied {
  /** Whether allowed requests have headers. */
  readonly isLimited: boolean
  /** Statuses of denials. */
  readonly denials: readonly string[]
}

/** The `responses` of one or more operations. */
interface Responses {
  readonly name: string
  isLimited: boolean
  readonly denials: Set<string>
}

/** A response, and the groups of headers that it needs. */
interface Response {
  readonly label: string
  isLimited: boolean
  isDenial: boolean
}

/** A response of an operation. */
interface Placed extends Response {
  readonly key: unknown
  readonly value: unknown
}

export const ALLOW_ORIGIN = 'Access-Control-Allow-Origin'
/** Statuses whose responses have the headers of limits. */
const WITH_HEADERS = /^[24](\d\d|XX)$/i

/** Adds denials and headers to the responses of operations, and removes earlier ones that no longer apply. */
export class DescribedResponses {
  readonly #source: YamlText
  readonly #edits: MapEdits
  readonly #report: Report
  readonly #responses = new Map<YAMLMap, Responses>()
  readonly #targets = new Map<YAMLMap, Response>()
  readonly #denials = new Set<string>()

  constructor(source: YamlText, edits: MapEdits, report: Report) {
    this.#source = source
    this.#edits = edits
    this.#report = report
  }

  /** Adds an operation. */
  add({ map, names: [name] }: Operation, { isLimited, denials }: Denied): void {
    const responses = this.#source.field(map, 'responses')
    if (responses) {
      const known = this.#responses.get(responses) ?? { name, isLimited: false, denials: new Set() }
      this.#responses.set(responses, known)
      known.isLimited ||= isLimited
      for (const status of denials) known.denials.add(status)
      return
    }
    if (denials.length === 0) return
    const label = `${name}: the response ${denials.join(' and the response ')}`
    this.#report('error', map, `${label} is missing`)
    const added = denials.map((status) => [status, this.#denial(status, label)] as const)
    this.#edits.set(map, 'responses', Object.fromEntries(added))
  }

  /** Describes the responses of all operations. Returns the components that they need. */
  describe({ all, denied }: HeaderParts): UsedComponents {
    for (const [map, responses] of this.#responses) this.#describe(map, responses)
    for (const [name, { value }] of this.#pairs('responses')) {
      const map = this.#source.mapOf(value)
      if (map) this.#target(map, `components.responses.${name}`)
    }
    const used = new Set<string>(this.#denials.size > 0 ? [...all.keys(), ...denied.keys()] : [])
    const targets = [...this.#targets].filter(([map]) => !isGenerated(this.#source, map))
    for (const [map, { label, isLimited, isDenial }] of targets) {
      const names = new Set([...(isLimited ? all.keys() : []), ...(isDenial ? denied.keys() : [])])
      for (const name of names) used.add(name)
      this.#addHeaders(map, label, [...names])
      this.#removeHeaders(map, label, names)
    }
    return { denials: this.#denials, headers: used, allowOrigin: this.#allowOrigin() }
  }

  #describe(map: YAMLMap, responses: Responses): void {
    for (const status of Object.keys(DENIALS)) this.#describeDenial(map, status, responses)
    for (const [status, { key, value }] of this.#source.pairsOf(map)) {
      const isDenial = responses.denials.has(status)
      if (isDenial && this.#isOurs(value, status)) this.#denials.add(status)
      const isLimited = isDenial || (responses.isLimited && WITH_HEADERS.test(status))
      this.#describeResponse({ key, value, label: `${responses.name}: the response ${status}`, isDenial, isLimited })
    }
  }

  /** Adds the response to denied requests, or removes an earlier one. */
  #describeDenial(map: YAMLMap, status: string, { name, denials }: Responses): void {
    const pair = this.#source.pairOf(map, status)
    const label = `${name}: the response ${status}`
    if (!denials.has(status)) {
      if (!pair || !this.#isOurs(pair.value, status)) return
      this.#report('error', pair.key, `${label} is present, but no limit applies`)
      this.#edits.remove(map, status)
    } else if (!pair) {
      this.#report('error', map, `${label} is missing`)
      this.#edits.set(map, status, this.#denial(status, label))
    }
  }

  /** Returns a reference to the response of denied requests, which may be a component of the author. */
  #denial(status: string, label: string): { readonly $ref: string } {
    const own = this.#component('responses', DENIALS[status])
    if (!own || isGenerated(this.#source, own)) this.#denials.add(status)
    else Object.assign(this.#target(own, label), { isLimited: true, isDenial: true })
    return reference('responses', DENIALS[status])
  }

  #describeResponse({ key, value, label, isDenial, isLimited }: Placed): void {
    const target = this.#source.followed(value)
    if (target !== undefined && typeof target !== 'string') {
      const response = this.#target(target, label)
      response.isDenial ||= isDenial
      response.isLimited ||= isLimited
    } else if (target !== undefined && isLimited) {
      this.#report('hint', key, `${label} is not in this file (${target}) and is not changed`)
    }
  }

  #target(map: YAMLMap, label: string): Response {
    const known = this.#targets.get(map) ?? { label, isLimited: false, isDenial: false }
    this.#targets.set(map, known)
    return known
  }

  #addHeaders(map: YAMLMap, label: string, names: readonly string[]): void {
    const headers = this.#source.field(map, 'headers')
    const present = new Set([...this.#namesIn(headers)].map((name) => name.toLowerCase()))
    const missing = names.filter((name) => !present.has(name.toLowerCase()))
    if (missing.length === 0) return
    this.#report('error', headers ?? map, `${label} has no header ${missing.join(', ')}`)
    const added = missing.map((name) => [name, reference('headers', name)] as const)
    if (headers) for (const [name, value] of added) this.#edits.set(headers, name, value)
    else this.#edits.set(map, 'headers', Object.fromEntries(added))
  }

  /** Removes headers that were added earlier, except the needed ones. */
  #removeHeaders(map: YAMLMap, label: string, needed: ReadonlySet<string>): void {
    const headers = this.#source.field(map, 'headers')
    if (!headers) return
    const stale = this.#namesIn(headers).filter((name) => !needed.has(name) && this.#isOurHeader(headers, name))
    if (stale.length === 0) return
    this.#report('error', headers, `${label} has the header ${stale.join(', ')}, which is no longer sent`)
    for (const name of stale) this.#edits.remove(headers, name)
    this.#edits.removeEmptied(map, 'headers', headers)
  }

  #namesIn(map: YAMLMap | undefined): readonly string[] {
    return map ? [...this.#source.pairsOf(map).keys()] : []
  }

  /** Whether a header refers to a component that `sluice openapi` wrote. */
  #isOurHeader(headers: YAMLMap, name: string): boolean {
    const map = this.#source.field(headers, name)
    if (!map || this.#source.textOf(map, '$ref') !== reference('headers', name).$ref) return false
    return isGenerated(this.#source, this.#component('headers', name)) && name !== ALLOW_ORIGIN
  }

  /** Whether a response refers to a component that `sluice openapi` wrote. */
  #isOurs(node: unknown, status: string): boolean {
    const map = this.#source.mapOf(node)
    if (!map || this.#source.textOf(map, '$ref') !== reference('responses', DENIALS[status]).$ref) return false
    const component = this.#component('responses', DENIALS[status])
    return component === undefined || isGenerated(this.#source, component)
  }

  /** Returns the definition of `Access-Control-Allow-Origin`: a component, or the header of a response. */
  #allowOrigin(): unknown {
    const own = this.#component('headers', ALLOW_ORIGIN)
    if (own && !isGenerated(this.#source, own)) return this.#source.valueOf(own)
    for (const map of this.#targets.keys()) {
      if (isGenerated(this.#source, map)) continue
      const value = this.#source.pairOf(this.#source.field(map, 'headers'), ALLOW_ORIGIN)?.value
      const header = this.#source.followed(value)
      if (header && typeof header !== 'string' && !isGenerated(this.#source, header))
        return this.#source.valueOf(header)
    }
    return undefined
  }

  #component(kind: string, name: string): YAMLMap | undefined {
    const components = this.#source.field(this.#source.root, 'components')
    return this.#source.field(this.#source.field(components, kind), name)
  }

  #pairs(kind: string): ReturnType<YamlText['pairsOf']> {
    const map = this.#source.field(this.#source.field(this.#source.root, 'components'), kind)
    return map ? this.#source.pairsOf(map) : new Map()
  }
}
