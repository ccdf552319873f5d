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
  readonly #lines = new LineCounter()
  readonly #document: Document

  constructor(text: string) {
    // the parser compares each name of a map with all others; `#repeatedNames` takes linear time
    const options = { lineCounter: this.#lines, prettyErrors: false, merge: true, uniqueKeys: false }
    this.#document = parseDocument(text, options)
  }

  /** Problems of the syntax, at most 100. The value of a document with problems is undefined. */
  get problems(): readonly (Position & { readonly message: string })[] {
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
