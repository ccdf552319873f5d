import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** A line may be longer if nothing in it can be on a line of its own. */
const LINE_LENGTH = 160
/** Fields of syntax trees that are lists whose items may begin a line. */
const LISTS = ['body', 'declarations', 'properties', 'elements', 'consequent', 'specifiers']
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * Breaks the lines of minified code in a folder, and those of its source maps. Node.js prints the whole line from which
 * an uncaught error was thrown.
 */
export function breakLines(folder) {
  for (const name of readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.js'))) {
    const path = join(folder, name)
    // a file that only exports from others has no map
    if (!existsSync(`${path}.map`)) continue
    const code = readFileSync(path, 'utf8')
    const breaks = breaksOf(code)
    const map = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
    const mappings = withBreaks(map.mappings, code, breaks)
    writeFileSync(path, partsOf(code, breaks).join('\n'))
    writeFileSync(`${path}.map`, JSON.stringify({ ...map, mappings }))
  }
}

/** Returns the offsets at which a line begins that did not begin one. */
function breaksOf(code) {
  const places = []
  collect(parseAst(code, { lang: 'js' }), places)
  places.sort((a, b) => a - b)
  const breaks = []
  let start = 0
  for (const [index, place] of places.entries()) {
    start = Math.max(start, code.lastIndexOf('\n', place - 1) + 1)
    const next = places[index + 1] ?? code.length
    if (place === start || next - start <= LINE_LENGTH) continue
    breaks.push(place)
    start = place
  }
  return breaks
}

function collect(node, places) {
  for (const [field, child] of Object.entries(node)) {
    if (child === null || typeof child !== 'object') continue
    if (!Array.isArray(child)) collect(child, places)
    else {
      for (const item of child) {
        if (item === null || typeof item !== 'object') continue
        if (LISTS.includes(field) && item.start !== undefined) places.push(item.start)
        collect(item, places)
      }
    }
  }
}

function partsOf(code, breaks) {
  return [0, ...breaks].map((start, index) => code.slice(start, breaks[index]))
}

/** Returns the mappings of code after its lines have been broken: only columns of the code differ. */
function withBreaks(mappings, code, breaks) {
  let offset = 0
  const rest = [...breaks]
  const lines = code.split('\n')
  return mappings
    .split(';')
    .map((line, number) => {
      const end = offset + lines[number].length
      const text = brokenLine(line, offset, rest, end)
      offset = end + 1
      return text
    })
    .join(';')
}

/** Returns the mappings of a line from `offset` to `end`, and removes from `breaks` those in it. */
function brokenLine(line, offset, breaks, end) {
  const texts = [[]]
  let [column, last] = [0, 0]
  const advance = (until) => {
    for (; breaks[0] <= until; breaks.shift()) {
      last = breaks[0] - offset
      texts.push([])
    }
  }
  for (const segment of line === '' ? [] : line.split(',')) {
    const { value, length } = decode(segment)
    column += value
    advance(offset + column)
    texts.at(-1).push(encode(column - last) + segment.slice(length))
    last = column
  }
  advance(end)
  return texts.map((segments) => segments.join(',')).join(';')
}

/** Returns the first number of a segment, and the length of its text. */
function decode(segment) {
  let [value, length, digit] = [0, 0, 32]
  while (digit & 32) {
    digit = DIGITS.indexOf(segment[length])
    value += (digit & 31) * 2 ** (5 * length++)
  }
  return { value: Math.floor(value / 2), length }
}

/** Returns the text of a number from 0. */
function encode(number) {
  let rest = number * 2
  let text = ''
  do {
    text += DIGITS[(rest & 31) | (rest > 31 ? 32 : 0)]
    rest = Math.floor(rest / 32)
  } while (rest > 0)
  return text
}
