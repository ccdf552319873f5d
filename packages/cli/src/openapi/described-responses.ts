import type { YAMLMap } from 'yaml'
import { DENIALS, reference } from './denial-responses.ts'
import type { Report } from './description-finding.ts'
import type { MapEdits } from './map-edits.ts'
import type { Operation } from './operations.ts'
import { GENERATED, type Part } from './rate-headers.ts'
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
    for (const status of denials) this.#denials.add(status)
    this.#report('error', map, `${name}: the response ${denials.join(' and the response ')} is missing`)
    this.#edits.set(map, 'responses', Object.fromEntries(denials.map((status) => [status, denialReference(status)])))
  }

  /** Describes the responses of all operations. Returns the components that they need. */
  describe({ all, denied }: HeaderParts): UsedComponents {
    for (const [map, responses] of this.#responses) this.#describe(map, responses)
    for (const [name, { value }] of this.#pairs('responses')) {
      const map = this.#source.mapOf(value)
      if (map) this.#target(map, `components.responses.${name}`)
    }
    const used = new Set<string>()
    for (const [map, { label, isLimited, isDenial }] of this.#targets) {
      if (this.#isGenerated(map)) continue
      const names = [...(isLimited ? all.keys() : []), ...(isDenial ? denied.keys() : [])]
      for (const name of names) used.add(name)
      this.#describeHeaders(map, label, names)
    }
    if (this.#denials.size > 0) for (const name of [...all.keys(), ...denied.keys()]) used.add(name)
    return { denials: this.#denials, headers: used, allowOrigin: this.#allowOrigin() }
  }

  #describe(map: YAMLMap, { name, isLimited, denials }: Responses): void {
    for (const status of Object.keys(DENIALS)) {
      const pair = this.#source.pairOf(map, status)
      if (denials.has(status) && !pair) {
        this.#report('error', map, `${name}: the response ${status} is missing`)
        this.#edits.set(map, status, denialReference(status))
        this.#denials.add(status)
        const own = this.#component('responses', DENIALS[status])
        if (own)
          Object.assign(this.#target(own, `${name}: the response ${status}`), { isLimited: true, isDenial: true })
      } else if (pair && !denials.has(status) && this.#isOurs(pair.value, status)) {
        this.#report('error', pair.key, `${name}: the response ${status} is present, but no limit applies`)
        this.#edits.remove(map, status)
      }
    }
    for (const [status, { key, value }] of this.#source.pairsOf(map)) {
      const isDenial = denials.has(status)
      const target = this.#source.followed(value)
      const label = `${name}: the response ${status}`
      if (isDenial && this.#isOurs(value, status)) this.#denials.add(status)
      if (typeof target === 'string' && (isDenial || (isLimited && WITH_HEADERS.test(status)))) {
        // the component is added
        if (isDenial && target === denialReference(status).$ref) this.#denials.add(status)
        else this.#report('hint', key, `${label} is not in this file (${target}) and is not changed`)
      } else if (target !== undefined && typeof target !== 'string') {
        const response = this.#target(target, label)
        response.isDenial ||= isDenial
        response.isLimited ||= isDenial || (isLimited && WITH_HEADERS.test(status))
      }
    }
  }

  #target(map: YAMLMap, label: string): Response {
    const known = this.#targets.get(map) ?? { label, isLimited: false, isDenial: false }
    this.#targets.set(map, known)
    return known
  }

  #describeHeaders(map: YAMLMap, label: string, names: readonly string[]): void {
    const headers = this.#source.field(map, 'headers')
    const present = headers ? this.#source.pairsOf(headers) : new Map<string, never>()
    const lower = new Set([...present.keys()].map((name) => name.toLowerCase()))
    const missing = names.filter((name) => !lower.has(name.toLowerCase()))
    const needed = new Set(names)
    const stale = headers
      ? [...present.keys()].filter((name) => !needed.has(name) && this.#isOurHeader(headers, name))
      : []
    if (missing.length > 0) {
      this.#report('error', headers ?? map, `${label} has no header ${missing.join(', ')}`)
      const added = Object.fromEntries(missing.map((name) => [name, reference('headers', name)]))
      if (!headers) this.#edits.set(map, 'headers', added)
      else for (const name of missing) this.#edits.set(headers, name, added[name])
    }
    if (!headers || stale.length === 0) return
    this.#report('error', headers, `${label} has the header ${stale.join(', ')}, which it no longer has`)
    for (const name of stale) this.#edits.remove(headers, name)
    this.#edits.removeEmptied(map, 'headers', headers)
  }

  /** Whether a header refers to a component that `sluice openapi` wrote. */
  #isOurHeader(headers: YAMLMap, name: string): boolean {
    const map = this.#source.field(headers, name)
    if (!map || this.#source.textOf(map, '$ref') !== reference('headers', name).$ref) return false
    return this.#isGenerated(this.#component('headers', name)) && name !== ALLOW_ORIGIN
  }

  /** Whether a response refers to a component that `sluice openapi` wrote. */
  #isOurs(node: unknown, status: string): boolean {
    const map = this.#source.mapOf(node)
    const isReference = map !== undefined && this.#source.textOf(map, '$ref') === denialReference(status).$ref
    return isReference && this.#isGenerated(this.#component('responses', DENIALS[status]))
  }

  /** Returns what the description says about `Access-Control-Allow-Origin`, by itself or in one of its responses. */
  #allowOrigin(): unknown {
    const own = this.#component('headers', ALLOW_ORIGIN)
    if (own && !this.#isGenerated(own)) return this.#source.valueOf(own)
    for (const map of this.#targets.keys()) {
      if (this.#isGenerated(map)) continue
      const value = this.#source.pairOf(this.#source.field(map, 'headers'), ALLOW_ORIGIN)?.value
      const header = this.#source.followed(value)
      if (header && typeof header !== 'string' && !this.#isGenerated(header)) return this.#source.valueOf(header)
    }
    return undefined
  }

  #isGenerated(map: YAMLMap | undefined): boolean {
    return Object.entries(GENERATED).every(([name, value]) => this.#source.textOf(map, name) === value)
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

function denialReference(status: string): { readonly $ref: string } {
  return reference('responses', DENIALS[status])
}
