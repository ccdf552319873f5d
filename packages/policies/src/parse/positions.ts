import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml'
import { type FileProblem, MAX_PROBLEMS } from '../document/file-problem.ts'

/** Steps from the root of a document to a value: names of fields and indexes of lists. */
export type Path = readonly (string | number)[]

/** Line and column, from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Most aliases of one anchor, so that a small file cannot describe a huge document. */
const MAX_ALIASES = 100

/** A parsed YAML or JSON text that knows where its values are. */
export class PositionedDocument {
  readonly #text: string
  readonly #lines = new LineCounter()
  #parsed: Document | undefined
  /** The value of a valid JSON text, which the parser of YAML would need many times longer for. */
  readonly #json: { readonly value: unknown } | undefined

  constructor(text: string) {
    this.#text = text
    this.#json = jsonOf(text)
  }

  /** Parsed when it is needed: for a valid JSON text, only to find positions. */
  get #document(): Document {
    // the parser compares each name of a map with all others; `#repeatedNames` takes linear time
    const options = { lineCounter: this.#lines, prettyErrors: false, merge: true, uniqueKeys: false }
    this.#parsed ??= parseDocument(this.#text, options)
    return this.#parsed
  }

  /** Problems of the syntax, at most 100. The value of a document with problems is undefined. */
  get problems(): readonly (Position & { readonly message: string })[] {
    if (this.#json) return []
    const { errors } = this.#document
    if (errors.length === 0) return this.#repeatedNames()
    return errors.slice(0, MAX_PROBLEMS).map(({ pos: [offset], message }) => ({ ...this.#at(offset), message }))
  }

  /** Returns a problem for each name that a map has twice. */
  #repeatedNames(): readonly (Position & { readonly message: string })[] {
    const offsets: number[] = []
    visit(this.#document, {
      Map: (_, map) => {
        offsets.push(...repeatedIn(map))
        return offsets.length < MAX_PROBLEMS ? undefined : visit.BREAK
      },
    })
    return offsets.slice(0, MAX_PROBLEMS).map((offset) => ({ ...this.#at(offset), message: 'Map keys must be unique' }))
  }

  /** Returns the document as plain values. Throws `ReferenceError` if it has too many aliases. */
  value(): unknown {
    if (this.#json) return this.#json.value
    return this.#document.toJS({ maxAliasCount: MAX_ALIASES })
  }

  /** Returns where a value begins, or the nearest value around it that is in the file. */
  positionOf(path: Path): Position {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? this.#document.contents : this.#document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return this.#at(node.range[0])
    }
    return { line: 1, column: 1 }
  }

  /** Returns the problem of a value. */
  problemAt(path: Path, message: string): FileProblem {
    return { ...this.positionOf(path), path: textOfPath(path), message }
  }

  /** Returns where the name of a field begins. */
  positionOfName(parent: Path, name: string): Position {
    const map = parent.length === 0 ? this.#document.contents : this.#document.getIn(parent, true)
    const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined
    return isScalar(pair?.key) && pair.key.range ? this.#at(pair.key.range[0]) : this.positionOf(parent)
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

/** Returns the value of a JSON text; undefined for other texts, and if an object has a name twice. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    let names = 0
    const value: unknown = JSON.parse(text, function (this: unknown, _name, one: unknown) {
      if (!Array.isArray(this)) names++
      return one
    })
    // the root has a name in the reviver, and the object around the root is not in the text
    return names - 1 === namesIn(text) ? { value } : undefined
  } catch {
    return undefined
  }
}

/** Returns how many names the objects of a valid JSON text have. */
function namesIn(text: string): number {
  let names = 0
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) names++
  return names
}

/** Returns where the names of a map begin that it already has. A map may be merged with several others. */
function repeatedIn({ items }: YAMLMap): readonly number[] {
  const seen = new Set<unknown>()
  const offsets: number[] = []
  for (const { key } of items) {
    if (!isScalar(key) || key.value === '<<') continue
    if (seen.has(key.value) && offsets.length < MAX_PROBLEMS) offsets.push(key.range?.[0] ?? 0)
    seen.add(key.value)
  }
  return offsets
}

/** Returns a path as text, such as `policies[2].limit`. */
export function textOfPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
