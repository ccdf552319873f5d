/** The part of a list header that has not been read yet. */
export interface ForwardedList {
  text: string | undefined
}

/** Removes and returns the last value of a list; undefined if nothing is left. Reads only this value. */
export function lastOf(list: ForwardedList): string | undefined {
  const { text } = list
  return text === undefined ? undefined : cutAt(list, text, text.lastIndexOf(','))
}

/**
 * Removes the last element of a `Forwarded` header (RFC 7239) and returns the address of its parameter `for`, as a proxy
 * writes it in `X-Forwarded-For`. Returns undefined if nothing is left, or if the element has no such parameter or
 * several, such as from a client that wrote the beginning of the element. Identifiers such as `unknown` and `_hidden`
 * are returned, too, and are not addresses.
 *
 * Reads from the end, so that quotes that a client left open do not reach into elements of proxies.
 */
export function lastForwardedFor(list: ForwardedList): string | undefined {
  const { text } = list
  if (text === undefined) return undefined
  return nodeOf(cutAt(list, text, lastUnquotedComma(text)))
}

function cutAt(list: ForwardedList, text: string, comma: number): string {
  list.text = comma < 0 ? undefined : text.slice(0, comma)
  return text.slice(comma + 1)
}

const PAIR = /\s*([^\s=;,"]+)=("(?:[^"\\]|\\.)*"|[^\s;,"]*)\s*(?:;|$)/y
/** A port that a proxy hides behind a name. */
const HIDDEN_PORT = /(?<=[\].\d]):_[\w.-]+$/

function lastUnquotedComma(text: string): number {
  let isQuoted = false
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === '"' && !isEscaped(text, i)) isQuoted = !isQuoted
    else if (text[i] === ',' && !isQuoted) return i
  }
  return -1
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return ((at - first) & 1) === 1
}

/** Returns the value of the only parameter `for` of an element. */
function nodeOf(element: string): string | undefined {
  let node: string | undefined
  PAIR.lastIndex = 0
  while (PAIR.lastIndex < element.length) {
    const [, name, value] = PAIR.exec(element) ?? []
    if (name === undefined || (node !== undefined && name.toLowerCase() === 'for')) return undefined
    if (name.toLowerCase() === 'for') node = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
  }
  return node?.replace(HIDDEN_PORT, '')
}
