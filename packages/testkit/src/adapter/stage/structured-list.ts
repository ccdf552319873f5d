type BareItem = string | number | boolean | Uint8Array

/** An item of an RFC 9651 list: a string and its parameters. */
export interface ListItem {
  readonly name: string
  readonly params: Readonly<Record<string, BareItem>>
}

const STRING = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/
const INTEGER = /^-?\d{1,15}(?![\d.])/
const BYTES = /^:([A-Za-z0-9+/]*={0,2}):/
const KEY = /^[a-z*][a-z0-9_.*-]*/
const SEPARATOR = /^, (?=.)/

/**
 * Parses a list of strings with parameters (RFC 9651 section 3.1) in canonical form only, because strict clients drop
 * anything else. Throws at the position of the first error.
 */
export function parseList(text: string): ListItem[] {
  const items: ListItem[] = []
  let rest = text
  do {
    const [name, afterName] = string(rest)
    const [params, afterParams] = parameters(afterName)
    items.push({ name, params })
    const separator = SEPARATOR.exec(afterParams)
    if (!separator && afterParams !== '') throw invalid(afterParams)
    rest = afterParams.slice(separator?.[0].length ?? 0)
  } while (rest !== '')
  return items
}

function string(text: string): [value: string, rest: string] {
  const match = STRING.exec(text)
  if (!match) throw invalid(text)
  return [match[1].replace(/\\(["\\])/g, '$1'), text.slice(match[0].length)]
}

function parameters(text: string): [params: Record<string, BareItem>, rest: string] {
  const params: Record<string, BareItem> = {}
  let rest = text
  while (rest.startsWith(';')) {
    const key = KEY.exec(rest.slice(1))?.[0]
    if (key === undefined || key in params) throw invalid(rest)
    rest = rest.slice(1 + key.length)
    params[key] = true
    if (rest.startsWith('=')) [params[key], rest] = bareItem(rest.slice(1))
  }
  return [params, rest]
}

function bareItem(text: string): [value: BareItem, rest: string] {
  if (text.startsWith('"')) return string(text)
  const bytes = BYTES.exec(text)
  if (bytes) return [Buffer.from(bytes[1], 'base64'), text.slice(bytes[0].length)]
  const integer = INTEGER.exec(text)
  if (integer) return [Number(integer[0]), text.slice(integer[0].length)]
  throw invalid(text)
}

function invalid(rest: string): Error {
  return new Error(`no RFC 9651 list of strings from here on: ${JSON.stringify(rest)}`)
}
