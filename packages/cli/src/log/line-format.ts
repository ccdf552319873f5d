import { SluiceError } from '@sluice/limiter-core/backend'
import type { AttributeValue } from '@sluice/policies'
import { AccessTime, epochMsOf } from './access-time.ts'
import { type LogEntry, pathOf, type RequestLine, requestLineOf } from './log-entry.ts'
import { endOfQuoted, unescaped } from './quoted-text.ts'

/** Apache's Common and Combined format. The last two fields are optional, and further text is ignored. */
const COMBINED = '$remote_addr $ident $remote_user [$time_local] "$request" $status $body_bytes_sent'
const COMBINED_TAIL = ' "$http_referer" "$http_user_agent"'
const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g
const TIMES: readonly string[] = ['time_local', 'time_iso8601', 'msec']

/** Variables of nginx by the name of the field. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  address: ['remote_addr'],
  principal: ['remote_user'],
  method: ['request_method'],
  path: ['request_uri', 'uri', 'document_uri'],
  bytes: ['body_bytes_sent', 'bytes_sent'],
  referer: ['http_referer'],
  user_agent: ['http_user_agent'],
}
/** Value of a variable that is empty. */
const EMPTY = '-'

interface FormatField {
  readonly name: string
  /** Text between this variable and the next one. */
  readonly after: string
  /** Whether the variable is between quotes, and may contain escaped ones. */
  readonly isQuoted: boolean
}

/** A line format in the syntax of nginx's `log_format`. */
export class LineFormat {
  readonly #before: string
  readonly #fields: readonly FormatField[]
  /** Number of fields that a line must have. */
  readonly #required: number
  readonly #places: ReadonlyMap<string, number>
  readonly #time: number
  readonly #clock = new AccessTime()

  /**
   * `optional`: end of the format that lines may omit. Throws `SLUICE_BAD_OPTION` if the format has no time, or two
   * variables without a text between them.
   */
  constructor(format: string, optional = '') {
    const whole = format + optional
    const found = [...whole.matchAll(VARIABLE)]
    const starts = found.map(({ index }) => index)
    const ends = found.map(({ index, 0: text }) => index + text.length)
    this.#before = whole.slice(0, starts[0])
    this.#fields = found.map(([, inBraces, bare], at) => {
      const after = whole.slice(ends[at], starts[at + 1])
      const before = whole.slice(ends[at - 1] ?? 0, starts[at])
      return { name: inBraces ?? bare, after, isQuoted: before.endsWith('"') && after.startsWith('"') }
    })
    this.#required = [...format.matchAll(VARIABLE)].length
    this.#places = placesOf(this.#fields)
    this.#time = this.#fields.findIndex(({ name }) => TIMES.includes(name))
    const adjacent = this.#fields.findIndex(({ after }, at) => after === '' && at < this.#fields.length - 1)
    if (this.#time < 0) throw badFormat(`one of ${TIMES.map((name) => `$${name}`).join(', ')}`, 'none of them')
    if (adjacent >= 0) throw badFormat(`a text after $${this.#fields[adjacent].name}`, 'another variable')
  }

  /** Returns the request of a line; a text that says what is wrong if the line does not have the format. */
  parse(line: string): LogEntry | string {
    if (!line.startsWith(this.#before)) return `expected '${this.#before}' at the start`
    const ends = this.#endsOf(line)
    if (ends.length < this.#required) {
      const { name, after } = this.#fields[ends.length]
      return `expected '${after}' after $${name}`
    }
    const timeMs = this.#timeOf(this.#text(line, ends, this.#time))
    if (Number.isNaN(timeMs)) return `expected a time as $${this.#fields[this.#time].name}`
    return new FormatEntry(timeMs, line, ends, this)
  }

  /** Returns the text of a variable, or of the field that it is; undefined if the line does not have it. */
  field(line: string, ends: readonly number[], name: string): string | undefined {
    const at = this.#places.get(name)
    if (at === undefined || at >= ends.length) return undefined
    const text = this.#text(line, ends, at)
    if (text === EMPTY || text === '') return undefined
    return this.#fields[at].isQuoted ? unescaped(text) : text
  }

  #text(line: string, ends: readonly number[], at: number): string {
    return line.slice(at === 0 ? this.#before.length : ends[at - 1] + this.#fields[at - 1].after.length, ends[at])
  }

  /** Returns the ends of all fields, or of those before the first one that does not end as in the format. */
  #endsOf(line: string): readonly number[] {
    const ends: number[] = []
    let from = this.#before.length
    for (const field of this.#fields) {
      const end = endOfField(line, from, field)
      if (end < 0) {
        // the last field that a line must have may end the line
        if (ends.length + 1 >= this.#required) ends.push(endOfWord(line, from))
        break
      }
      ends.push(end)
      from = end + field.after.length
    }
    return ends
  }

  #timeOf(text: string): number {
    return this.#fields[this.#time].name === 'time_local' ? this.#clock.ofLocalTime(text) : epochMsOf(text, this.#clock)
  }
}

/** The Common Log Format and the Combined one. */
export function combinedFormat(): LineFormat {
  return new LineFormat(COMBINED, COMBINED_TAIL)
}

/** A line whose fields a format has found. Their texts are cut out when they are read. */
class FormatEntry implements LogEntry {
  readonly timeMs: number
  readonly #line: string
  readonly #ends: readonly number[]
  readonly #format: LineFormat
  #request: RequestLine | undefined

  constructor(timeMs: number, line: string, ends: readonly number[], format: LineFormat) {
    this.timeMs = timeMs
    this.#line = line
    this.#ends = ends
    this.#format = format
  }

  field(name: string): AttributeValue | undefined {
    const text = this.#text(name)
    if (name !== 'method' && name !== 'path') return text
    if (text !== undefined) return name === 'path' ? pathOf(text) : text
    this.#request ??= requestLineOf(this.#text('request') ?? '')
    return this.#request[name]
  }

  #text(name: string): string | undefined {
    return this.#format.field(this.#line, this.#ends, name)
  }
}

/** Returns the index of each field, by the names that `LogEntry.field` accepts. */
function placesOf(fields: readonly FormatField[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  fields.forEach(({ name }, at) => {
    places.set(name, at)
    if (name.startsWith('http_')) places.set(`header:${name.slice(5).replaceAll('_', '-')}`, at)
  })
  for (const [field, variables] of Object.entries(VARIABLES)) {
    const place = variables.map((variable) => places.get(variable)).find((at) => at !== undefined)
    if (place !== undefined) places.set(field, place)
  }
  return places
}

/** Returns the end of a field; -1 if the text after it is not that of the format. */
function endOfField(line: string, from: number, { after, isQuoted }: FormatField): number {
  if (after === '') return line.length
  if (!isQuoted) return line.indexOf(after, from)
  const end = endOfQuoted(line, from)
  return line.startsWith(after, end) ? end : -1
}

function endOfWord(line: string, from: number): number {
  const space = line.indexOf(' ', from)
  return space < 0 ? line.length : space
}

function badFormat(expected: string, received: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `format: expected ${expected}, received ${received}`)
}
