import { SluiceError } from '@sluice/limiter-core/backend'
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'

/** Line and column, from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Most references that lead from one place to another: a circle of them has no end. */
const MAX_STEPS = 32
const MERGE = '<<'

/** A YAML or JSON text whose maps can be read by name, through aliases, merged maps and references of JSON Pointers. */
export class YamlText {
  readonly text: string
  readonly root: YAMLMap
  readonly #lines = new LineCounter()
  readonly #document: Document
  readonly #targets = new Map<Alias, Node>()
  readonly #pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair<Node, Node | null>>>()

  /** Throws `SLUICE_BAD_DESCRIPTION` with the line and column if the text is not one map. */
  constructor(text: string, file: string) {
    this.text = text
    const options = { lineCounter: this.#lines, prettyErrors: false, intAsBigInt: true, logLevel: 'error' } as const
    this.#document = parseDocument(text, options)
    const [error] = this.#document.errors
    if (error) throw badDescription(file, this.#at(error.pos[0]), error.message)
    const root = this.#document.contents
    if (!isMap(root)) throw badDescription(file, { line: 1, column: 1 }, 'expected a map of fields')
    this.root = root
    if (text.includes('&')) this.#findAnchors()
  }

  /** Returns the map at a node; undefined if there is no map. */
  mapOf(node: unknown): YAMLMap | undefined {
    const target = isAlias(node) ? this.#targets.get(node) : node
    return isMap(target) ? target : undefined
  }

  /** Returns the field of a map, or of a map that is merged into it. */
  pairOf(map: YAMLMap | undefined, name: string): Pair<Node, Node | null> | undefined {
    return map && this.pairsOf(map).get(name)
  }

  /** Returns the map in a field; undefined if there is none. */
  field(map: YAMLMap | undefined, name: string): YAMLMap | undefined {
    return this.mapOf(this.pairOf(map, name)?.value)
  }

  /** Returns the text in a field; undefined if the field has another value. */
  textOf(map: YAMLMap | undefined, name: string): string | undefined {
    const value = this.valueOf(this.pairOf(map, name)?.value)
    return typeof value === 'string' ? value : undefined
  }

  /** Returns the fields of a map by name, those of merged maps included. */
  pairsOf(map: YAMLMap): ReadonlyMap<string, Pair<Node, Node | null>> {
    const known = this.#pairs.get(map)
    if (known) return known
    const pairs = new Map<string, Pair<Node, Node | null>>()
    // a map that is merged into itself has the fields that it has by then
    this.#pairs.set(map, pairs)
    const all = map.items as Pair<Node, Node | null>[]
    for (const pair of all) if (nameOf(pair) !== MERGE) pairs.set(nameOf(pair), pair)
    for (const merged of all.filter((pair) => nameOf(pair) === MERGE).map(({ value }) => this.mapOf(value))) {
      const further = merged ? [...this.pairsOf(merged)].filter(([name]) => !pairs.has(name)) : []
      for (const [name, pair] of further) pairs.set(name, pair)
    }
    return pairs
  }

  /** Returns the plain value of a node: integers as numbers, aliases as what they stand for. */
  valueOf(node: unknown): unknown {
    const target = isAlias(node) ? this.#targets.get(node) : node
    if (isScalar(target)) return typeof target.value === 'bigint' ? Number(target.value) : target.value
    const js = (target as Node | undefined)?.toJS(this.#document, { maxAliasCount: 100 })
    return js === undefined
      ? undefined
      : JSON.parse(JSON.stringify(js, (_, one) => (typeof one === 'bigint' ? Number(one) : one)))
  }

  /**
   * Returns the map that a node stands for, after its references within the text. Returns the reference as a string if
   * it leads to another file or nowhere.
   */
  followed(node: unknown): YAMLMap | string | undefined {
    let map = this.mapOf(node)
    for (let steps = 0; map && steps < MAX_STEPS; steps++) {
      const reference = this.textOf(map, '$ref')
      if (reference === undefined) return map
      map = this.mapOf(this.#nodeAt(reference))
      if (map === undefined) return reference
    }
    return map && this.textOf(map, '$ref')
  }

  /** Returns an item of the list in a field of the root. */
  itemOf(name: string, place: number): unknown {
    const list = this.pairOf(this.root, name)?.value
    return isSeq(list) ? list.items[place] : undefined
  }

  /** Returns where a node begins. */
  positionOf(node: unknown): Position {
    const at = (node as Partial<Node> | undefined)?.range?.[0]
    return at === undefined ? { line: 1, column: 1 } : this.#at(at)
  }

  #nodeAt(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined
    let node: unknown = this.root
    for (const step of reference.slice(2).split('/')) {
      node = this.pairOf(this.mapOf(node), pointerStep(step))?.value
    }
    return node
  }

  #findAnchors(): void {
    const anchors = new Map<string, Node>()
    visit(this.#document, {
      Node: (_, node) => {
        if (isAlias(node)) {
          const target = anchors.get(node.source)
          if (target) this.#targets.set(node, target)
        } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
      },
    })
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

/** Returns the name of a field: numbers, such as the status 200, as text. */
export function nameOf({ key }: Pair<unknown, unknown>): string {
  return isScalar(key) ? String(key.value) : ''
}

/** Returns the error of a description that is not valid. */
export function badDescription(file: string, { line, column }: Position, message: string): SluiceError {
  return new SluiceError('SLUICE_BAD_DESCRIPTION', `${file}:${line}:${column}: ${message}`)
}

function pointerStep(step: string): string {
  const unescaped = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}
