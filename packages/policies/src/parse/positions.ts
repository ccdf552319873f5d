import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import type { FileProblem } from '../document/file-problem.ts'

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
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, merge: true })
  }

  /** Problems of the syntax. The value of a document with problems is undefined. */
  get problems(): readonly (Position & { readonly message: string })[] {
    return this.#document.errors.map(({ pos: [offset], message }) => ({ ...this.#at(offset), message }))
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

/** Returns a path as text, such as `policies[2].limit`. */
export function textOfPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
