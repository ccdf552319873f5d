import { isCollection, isMap, type Node, type Pair, stringify, type YAMLMap } from 'yaml'
import { nameOf, type YamlText } from './yaml-text.ts'

/** A part of a text that is replaced. Parts at one place are inserted in the order of their depth, deepest first. */
interface Patch {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly depth: number
}

interface MapEdit {
  readonly set: Map<string, unknown>
  readonly removed: Set<string>
}

/** Changes of fields of a YAML or JSON text. All other lines of the text, its comments and its order remain. */
export class MapEdits {
  readonly #source: YamlText
  readonly #edits = new Map<YAMLMap, MapEdit>()

  constructor(source: YamlText) {
    this.#source = source
  }

  get isEmpty(): boolean {
    return this.#edits.size === 0
  }

  /** Sets a field, at the end of the map if it does not have the field yet. */
  set(map: YAMLMap, name: string, value: unknown): void {
    this.#of(map).set.set(name, value)
  }

  /** Removes a field of the map. */
  remove(map: YAMLMap, name: string): void {
    this.#of(map).removed.add(name)
  }

  /** Removes a field with a map of which no field would remain. */
  removeEmptied(parent: YAMLMap, name: string, map: YAMLMap | undefined): void {
    const edit = map && this.#edits.get(map)
    if (!edit || edit.set.size > 0 || !map.items.every((pair) => edit.removed.has(nameOf(pair)))) return
    this.#edits.delete(map)
    this.remove(parent, name)
  }

  /** Returns the changed text. */
  text(): string {
    const { text } = this.#source
    const patches = [...this.#edits].flatMap(([map, edit]) => this.#patchesOf(map, edit))
    patches.sort((a, b) => a.from - b.from || b.depth - a.depth)
    const parts: string[] = []
    let at = 0
    for (const { from, to, text: inserted } of patches) {
      parts.push(text.slice(at, from), text.includes('\r\n') ? inserted.replaceAll('\n', '\r\n') : inserted)
      at = Math.max(at, to)
    }
    return parts.join('') + text.slice(at)
  }

  #of(map: YAMLMap): MapEdit {
    const known = this.#edits.get(map)
    if (known) return known
    const added: MapEdit = { set: new Map(), removed: new Set() }
    this.#edits.set(map, added)
    return added
  }

  #patchesOf(map: YAMLMap, edit: MapEdit): Patch[] {
    return map.flow ? flowPatches(this.#source.text, map, edit) : blockPatches(this.#source.text, map, edit)
  }
}

function blockPatches(text: string, map: YAMLMap, { set, removed }: MapEdit): Patch[] {
  const pairs = map.items as Pair<Node, Node | null>[]
  const depth = columnOf(text, startOf(pairs[0]))
  const own = new Set(pairs.map(nameOf))
  const added = [...set].filter(([name]) => !own.has(name)).map(([name, value]) => blockText(name, value, depth))
  const anchor = pairs.findLast((pair) => !removed.has(nameOf(pair)) || set.has(nameOf(pair)))
  if (!anchor) {
    const whole = added.length === 0 ? '{}' : added.join('').trim()
    return [{ from: startOf(pairs[0]), to: contentEnd(text, endOf(pairs[pairs.length - 1])), text: whole, depth }]
  }
  const patches = pairs.flatMap((pair) => {
    const [name, from, end] = [nameOf(pair), startOf(pair), endOf(pair)]
    if (set.has(name))
      return [{ from, to: contentEnd(text, end), text: blockText(name, set.get(name), depth).trim(), depth }]
    return removed.has(name) ? [{ ...linesOf(text, lineStart(text, from), end), text: '', depth }] : []
  })
  if (added.length === 0) return patches
  const at = lineEnd(text, endOf(anchor))
  return [...patches, { from: at, to: at, text: `\n${added.join('').slice(0, -1)}`, depth }]
}

function flowPatches(text: string, map: YAMLMap, edit: MapEdit): Patch[] {
  const { set, removed } = edit
  const pairs = map.items as Pair<Node, Node | null>[]
  const style = flowStyle(text, map)
  const own = new Set(pairs.map(nameOf))
  const remaining = pairs.filter((pair) => !removed.has(nameOf(pair)) || set.has(nameOf(pair)))
  const added = [...set].filter(([name]) => !own.has(name)).map(([name, value]) => style.print(name, value))
  if (remaining.length === 0) {
    const [from, to] = [(map.range?.[0] ?? 0) + 1, (map.range?.[1] ?? 0) - 1]
    return [
      { from, to, text: added.length === 0 ? '' : style.open + added.join(style.between) + style.close, depth: 0 },
    ]
  }
  const at = endOf(remaining[remaining.length - 1])
  const insertion = { from: at, to: at, text: added.map((one) => style.between + one).join(''), depth: 0 }
  const isFirst = (place: number): boolean => place < pairs.indexOf(remaining[0])
  const changed = pairs.flatMap((pair, place) => {
    const written = set.has(nameOf(pair)) ? style.print(nameOf(pair), set.get(nameOf(pair))) : undefined
    if (written !== undefined) return [{ from: startOf(pair), to: endOf(pair), text: written, depth: 0 }]
    if (!removed.has(nameOf(pair))) return []
    // with the comma in front of the field, or the one behind it if all fields in front of it are removed too
    if (isFirst(place)) return [{ from: startOf(pair), to: startOf(pairs[place + 1]), text: '', depth: 0 }]
    return [{ from: endOf(pairs[place - 1]), to: endOf(pair), text: '', depth: 0 }]
  })
  return added.length === 0 ? changed : [...changed, insertion]
}

interface FlowStyle {
  readonly open: string
  readonly between: string
  readonly close: string
  print(name: string, value: unknown): string
}

/** Returns how fields are written in a flow map: one on each line, or all on one line. */
function flowStyle(text: string, map: YAMLMap): FlowStyle {
  const [first] = map.items as Pair<Node, Node | null>[]
  const open = map.range?.[0] ?? 0
  const isJson = /^\s*\{/.test(text)
  const isOnLines = first ? text.slice(open, startOf(first)).includes('\n') : /^\s*\{\s*\n/.test(text)
  if (!isOnLines) {
    const space = isJson && !/^[^"]*"[^"]*":\s/.test(text) ? '' : ' '
    const print = (name: string, value: unknown): string =>
      isJson && space === '' ? `${JSON.stringify(name)}:${JSON.stringify(value)}` : flowText(name, value, isJson)
    const padding = /^\s/.test(text.slice(open + 1)) ? ' ' : ''
    return { open: padding, between: `,${space}`, close: padding, print }
  }
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', open) + 1))?.[0] ?? ''
  const unit = /^\s*\{\s*\n([ \t]+)/.exec(text)?.[1] ?? '  '
  const inner = first ? text.slice(text.lastIndexOf('\n', startOf(first)) + 1, startOf(first)) : outer + unit
  return {
    open: `\n${inner}`,
    between: `,\n${inner}`,
    close: `\n${outer}`,
    print: (name, value) =>
      `${JSON.stringify(name)}: ${JSON.stringify(value, null, unit).replaceAll('\n', `\n${inner}`)}`,
  }
}

function flowText(name: string, value: unknown, isJson: boolean): string {
  if (isJson) {
    const spaced = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
    return `${JSON.stringify(name)}: ${spaced}`
  }
  const written = stringify({ [name]: value }, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true })
  return written
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^\{ /, '')
    .replace(/ \} ?$/, '')
}

/** Returns a field as lines that end with a line break. */
function blockText(name: string, value: unknown, depth: number): string {
  const written = stringify({ [name]: value }, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false })
  return written.replaceAll(/^(?=.)/gm, ' '.repeat(depth))
}

function startOf({ key }: Pair<Node, Node | null>): number {
  return key.range?.[0] ?? 0
}

/** Returns the end of the last character of a field, without the comment behind it. */
function endOf({ key, value }: Pair<Node, Node | null>): number {
  return endOfNode(value, (key.range?.[1] ?? 0) + ':'.length)
}

/** `empty`: the end of a node without characters. */
function endOfNode(node: Node | null, empty: number): number {
  const isLong = isCollection(node) && !node.flow
  if (isLong && isMap(node)) return endOf(node.items[node.items.length - 1] as Pair<Node, Node | null>)
  const last = isLong ? (node.items[node.items.length - 1] as Node) : undefined
  if (last) return endOfNode(last, last.range?.[0] ?? empty)
  const [start, end] = node?.range ?? [0, 0]
  return end > start ? end : empty
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Returns the column at which the fields of a block map begin, in front of anchors and tags of the first name. */
function columnOf(text: string, offset: number): number {
  return /^(?:[-:] +| )*/.exec(text.slice(lineStart(text, offset), offset))?.[0].length ?? 0
}

/** Returns the end of a field without its last line break, which the text of a block scalar includes. */
function contentEnd(text: string, offset: number): number {
  return text[offset - 1] === '\n' ? lineEnd(text, offset) : offset
}

/** Returns the end of the line of a field that ends here, in front of its line break. */
function lineEnd(text: string, offset: number): number {
  // the text of a block scalar includes its last line break
  const end = text[offset - 1] === '\n' ? offset - 1 : text.indexOf('\n', offset)
  if (end < 0) return text.length
  return text[end - 1] === '\r' ? end - 1 : end
}

/** Returns the lines of a field with the line break in front of them, at whose end other fields may be added. */
function linesOf(text: string, from: number, end: number): { readonly from: number; readonly to: number } {
  const to = lineEnd(text, end)
  if (from === 0) return { from, to: Math.min(text.length, text.indexOf('\n', to) + 1) }
  return { from: from - (text[from - 2] === '\r' ? 2 : 1), to }
}
