// Writes packages/redis/src/lua/algorithms/generated.ts: the algorithms of limiter-core as Lua.
import { readClass, readFunctions } from './algorithm-class.mjs'
import { algorithmFiles, algorithmPath, literal, property } from './generated-module.mjs'
import { LuaWriter } from './lua-writer.mjs'

/** Fields whose values the script receives, or does not need. */
const GIVEN = ['policy', 'instants', 'cells', 'capacity', 'windowMs', 'room', 'beside']
/** Lua names of arguments of constructors. */
const NAMES = { slices: 'sliceCount' }
const TAKE = ['c', 'now', 'cost']
/** Fields of `c` with the cells that a class adds to those of another policy. */
const FACETS = { holding: 'held', booking: 'queue' }
const OUTPUT_NAMES = [undefined, 'left', 'reset', 'grows']
/** Methods of all policies and of facets, with the arguments of their Lua functions, in the order in which they are written. */
const FACET_METHODS = {
  waitMs: TAKE,
  pass: TAKE,
  spend: TAKE,
  book: TAKE,
  remaining: ['c', 'now'],
  resetAfterMs: ['c', 'now'],
  keptMs: ['c', 'now'],
  endsAt: ['now', 'forMs'],
  heldOf: ['c', 'now', 'units', 'endsAt'],
  hold: ['c', 'now', 'units', 'endsAt'],
  release: ['c', 'now', 'units', 'endsAt'],
  adjust: ['c', 'now', 'units', 'takenAt'],
  adopt: ['c', 'now', 'known', 'resetMs'],
}

/** Returns the text of the module. */
export function luaModule() {
  const names = algorithmFiles()
  const texts = names.map((name) => `  ${property(name)}: ${algorithmText(algorithmPath(name))},\n`)
  const facets = Object.entries(FACETS).map(([name, own]) => `  ${name}: ${literal(facetText(name, own))},\n`)
  const type = names.map((name) => `'${name}'`).join(' | ')
  return `${HEAD}
export const algorithmTexts: Readonly<Record<${type}, AlgorithmText>> = {
${texts.join('')}}

/** Functions of the policies that add cells to another policy, \`inner\`. */
export const facetTexts: Readonly<Record<${Object.keys(FACETS)
    .map((name) => `'${name}'`)
    .join(' | ')}, string>> = {
${facets.join('')}}
`
}

function algorithmText(path) {
  const read = readClass(path)
  const functions = readFunctions(algorithmPath('whole-ms'))
  // a short function is a method, and a long one is needed only after rounding errors
  read.methods.set('wholeMsUntil', functions.get('wholeMsUntil'))
  functions.delete('wholeMsUntil')
  const options = { names: NAMES, functions, rounds: path.endsWith('fixed-window.ts') ? ['c[1]', 'c1'] : undefined }
  const writer = new LuaWriter(read, options)
  const constants = [writer.declarations(GIVEN), layoutOf(read)].filter(Boolean).join('\n')
  const readers = ['waitMs', 'spend', 'remaining', 'resetAfterMs', 'numbers']
  const takes = [
    ...writer.sharedFunctions(readers),
    writer.method('waitMs', 'waitMs', TAKE),
    writer.method('spend', 'spend', TAKE),
    writer.method('remaining', 'remaining', ['c', 'now']),
    writer.method('resetAfterMs', 'resetAfterMs', ['c', 'now']),
    numbersOf(writer),
  ]
  const moves = [
    ...writer.sharedFunctions(['adjust', 'adopt']),
    writer.method('adjust', 'adjust', ['c', 'now', 'units', 'takenAt']),
    writer.method('adopt', 'adopt', ['c', 'now', 'known', 'resetMs']),
  ]
  const locals = localsOf(read, options)
  const inlined = new LuaWriter(read, { ...options, locals: locals !== undefined })
  const parts = {
    constants,
    takes: takes.join('\n'),
    moves: moves.join('\n'),
    derived: inlined.declarations(GIVEN),
    locals,
    kept: locals === undefined ? undefined : inlined.inlineResult('resetAfterMs', ['c', 'now'], 'kept'),
    measure: inlined.inlineResult('waitMs', TAKE, 'wait'),
    take: inlined.inline('take', TAKE, ['wait', ...OUTPUT_NAMES.slice(1)]),
    numbers: inlined.inline('numbers', [...TAKE, 'wait'], OUTPUT_NAMES),
  }
  const written = Object.entries(parts).filter(([, value]) => value !== undefined)
  return `{\n${written.map(([name, value]) => `  ${name}: ${literal(value)},\n`).join('')}}`
}

/** Returns the number of cells that can be local variables; undefined if an index of a cell is computed. */
function localsOf(read, options) {
  const cells = read.fields.get('cells')
  if (read.fields.has('room') || cells.type !== 'NumericLiteral') return undefined
  const text = new LuaWriter(read, options).inline('take', TAKE, ['wait', ...OUTPUT_NAMES.slice(1)])
  return /\bc\[(?!\d+\])/.test(text) ? undefined : cells.value
}

function facetText(name, own) {
  const read = readClass(algorithmPath(`${name}-policy`))
  const writer = new LuaWriter(read, { own })
  const names = Object.keys(FACET_METHODS).filter((method) => read.methods.has(method))
  const shared = writer.sharedFunctions([...names, 'numbers'])
  const methods = names.map((method) => writer.method(method, method, FACET_METHODS[method]))
  return [...shared, ...methods, numbersOf(writer)].join('\n')
}

function numbersOf(writer) {
  const returned = OUTPUT_NAMES.filter(Boolean)
  return writer.method('numbers', 'numbersOf', [...TAKE, 'wait'], OUTPUT_NAMES, returned)
}

/** Number of cells and format of a stored value. A log has as many cells as timestamps. */
function layoutOf({ fields }) {
  const cells = fields.get('cells')
  if (fields.has('room')) return "local cells, layout = nil, 'log'"
  if (cells.type === 'NumericLiteral') return `local cells, layout = ${cells.value}, '<${'d'.repeat(cells.value)}'`
  const text = new LuaWriter(EMPTY, { names: NAMES }).ofConstants(cells)
  return `local cells = ${text}\nlocal layout = '<' .. string.rep('d', cells)`
}

const EMPTY = { fields: new Map(), arrays: new Set(), methods: new Map(), constants: new Map() }

const HEAD = `// Written by tools/build/embed-lua.mjs from packages/limiter-core/src/algorithms: change the classes, and run it.

/** The Lua code of an algorithm. Constants of the policy are local variables. */
export interface AlgorithmText {
  /** Derived constants, and the number and format of the cells. */
  readonly constants: string
  /** Functions of takes: \`waitMs\`, \`spend\`, \`remaining\`, \`resetAfterMs\` and \`numbersOf\`. */
  readonly takes: string
  /** Functions of adjustments, which need those of takes: \`adjust\` and \`adopt\`. */
  readonly moves: string
  /** Derived constants alone. */
  readonly derived: string
  /** Number of cells that the following texts use as local variables, \`c1\` and so on; undefined for the table \`c\`. */
  readonly locals?: number
  /** Sets \`kept\` to \`resetAfterMs\`, without functions; undefined for the table \`c\`. */
  readonly kept?: string
  /** Sets \`wait\` to the wait of \`cost\`, without functions. */
  readonly measure: string
  /** Takes \`cost\` units, and sets \`wait\`, \`left\`, \`reset\` and \`grows\`, without functions. */
  readonly take: string
  /** Sets \`left\`, \`reset\` and \`grows\` of cells whose \`wait\` is known, without functions. */
  readonly numbers: string
}
`
