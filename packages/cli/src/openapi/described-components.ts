import { isDeepStrictEqual } from 'node:util'
import type { YAMLMap } from 'yaml'
import { DENIALS, denialResponse, PROBLEM_SCHEMA, problemSchema } from './denial-responses.ts'
import { ALLOW_ORIGIN, type HeaderParts, type UsedComponents } from './described-responses.ts'
import type { Report } from './description-finding.ts'
import type { MapEdits } from './map-edits.ts'
import { GENERATED, isGenerated, type Part } from './rate-headers.ts'
import type { YamlText } from './yaml-text.ts'

const KINDS: readonly Kind[] = ['schemas', 'responses', 'headers']
type Kind = 'schemas' | 'responses' | 'headers'
type Components = Readonly<Record<Kind, ReadonlyMap<string, Part>>>

/** Adds the components that responses refer to. Components of the author remain, also those with the same name. */
export class DescribedComponents {
  readonly #source: YamlText
  readonly #edits: MapEdits
  readonly #report: Report

  constructor(source: YamlText, edits: MapEdits, report: Report) {
    this.#source = source
    this.#edits = edits
    this.#report = report
  }

  /** Adds and updates the components that are used, and removes those that are no longer used. */
  describe(used: UsedComponents, headers: HeaderParts): void {
    const expected = expectedComponents(used, headers)
    const { root } = this.#source
    const components = this.#source.field(root, 'components')
    const added: Record<string, Part> = {}
    for (const kind of KINDS) {
      const map = this.#source.field(components, kind)
      if (map) this.#update(kind, map, expected[kind])
      const missing = [...expected[kind]].filter(([name]) => !this.#source.pairOf(map, name))
      if (missing.length === 0) continue
      const names = missing.map(([name]) => name).join(', ')
      this.#report('error', map ?? components ?? root, `components.${kind} has no ${names}`)
      if (map) this.#setAll(map, missing)
      else added[kind] = Object.fromEntries(missing)
    }
    if (components) this.#complete(components, added)
    else if (Object.keys(added).length > 0) this.#edits.set(root, 'components', added)
  }

  #setAll(map: YAMLMap, parts: readonly (readonly [string, Part])[]): void {
    for (const [name, value] of parts) this.#edits.set(map, name, value)
  }

  #complete(components: YAMLMap, added: Readonly<Record<string, Part>>): void {
    this.#setAll(components, Object.entries(added))
    for (const kind of KINDS) this.#edits.removeEmptied(components, kind, this.#source.field(components, kind))
    this.#edits.removeEmptied(this.#source.root, 'components', components)
  }

  /** Updates and removes the components of one kind that `sluice openapi` wrote. */
  #update(kind: Kind, map: YAMLMap, expected: ReadonlyMap<string, Part>): void {
    for (const [name, { key, value }] of this.#source.pairsOf(map)) {
      const component = this.#source.mapOf(value)
      if (!component || !isGenerated(this.#source, component)) continue
      const part = expected.get(name)
      if (part && isDeepStrictEqual(this.#source.valueOf(component), JSON.parse(JSON.stringify(part)))) continue
      this.#report('error', key, `components.${kind}.${name} ${part ? 'is outdated' : 'is no longer used'}`)
      if (part) this.#edits.set(map, name, part)
      else this.#edits.remove(map, name)
    }
  }
}

function expectedComponents({ denials, headers: names, allowOrigin }: UsedComponents, parts: HeaderParts): Components {
  const headers = new Map([...parts.all, ...parts.denied].filter(([name]) => names.has(name)))
  const hasOrigin = allowOrigin !== undefined && denials.size > 0
  if (hasOrigin) headers.set(ALLOW_ORIGIN, { ...(allowOrigin as Part), ...GENERATED })
  const own = [...parts.all.keys(), ...parts.denied.keys(), ...(hasOrigin ? [ALLOW_ORIGIN] : [])]
  const responses = [...denials].sort().map((status) => [DENIALS[status], denialResponse(status, own)] as const)
  return {
    headers,
    responses: new Map(responses),
    schemas: new Map(denials.size > 0 ? [[PROBLEM_SCHEMA, problemSchema]] : []),
  }
}
