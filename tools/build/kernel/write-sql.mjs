// Writes packages/postgres/src/functions/generated.ts: the algorithms of limiter-core as blocks of PL/pgSQL.
import { readFileSync } from 'node:fs'
import { readClass, readFunctions } from './algorithm-class.mjs'
import { fewerStatements } from './fewer-statements.mjs'
import { callOf, SEARCH, searchInMethod } from './first-whole-ms.mjs'
import { algorithmFiles, algorithmPath, literal, property } from './generated-module.mjs'
import { SqlWriter } from './sql-writer.mjs'

/** Numbers of each policy, and the fields of classes that have them; see `policyNumbers`. */
const GIVEN = { capacity: 'p[2]', windowMs: 'p[5]', limit: 'p[6]', room: 'p[7]', beside: 'p[8]' }
const NAMES = { slices: 'p[7]' }
const IGNORED = ['policy', 'instants', 'cells']
const HOLDING_GIVEN = { capacity: 'p[2]', sliceMs: 'p[5]', innerP: 'p[6 :]', innerC: 'c[11 :]' }
const HOLDING_IGNORED = [...IGNORED, 'first', 'room', 'variants', 'inner', 'holds', 'windowMs']

const TAKE = ['c', 'now', 'cost']
const OUTPUTS = ['wait_ms', 'units_left', 'reset_ms', 'grows_ms']

/** Statements of methods that move many cells, which are operations on arrays. */
const PRIMITIVES = {
  'sliding-log': {
    remove: ({ first, last }) => [
      `if ${last} > ${first} then`,
      first === '0' ? `  c := c[${last}::int + 1 :];` : `  c := c[1 : ${first}::int] || c[${last}::int + 1 :];`,
      '  count := cardinality(c);',
      'end if;',
    ],
    insert: ({ place, units, time }) => [
      `if ${units} > 0 then`,
      `  c := c[1 : ${place}::int] || array_fill(${time}, array[${units}::int]) || c[${place}::int + 1 :];`,
      '  if cardinality(c) > room then c := c[cardinality(c) - room::int + 1 :]; end if;',
      '  count := cardinality(c);',
      'end if;',
    ],
  },
  'sliced-window': {
    shift: ({ passed }) => [
      `if ${passed} > 0 then`,
      `  c := (c[1] + ${passed} * slice_ms) || array_fill(0::float8, array[least(${passed}, kept)::int])`,
      `    || c[2 : (kept + 1 - least(${passed}, kept))::int];`,
      'end if;',
    ],
  },
  'two-epoch-window': { store: () => ['c := array[start, current, previous, last];'] },
  holding: { clear: () => ['c := array_fill(0::float8, array[10]) || c[11 :];'] },
}

/** Returns the text of the module. */
export function sqlModule() {
  const names = algorithmFiles()
  const type = names.map((name) => `'${name}'`).join(' | ')
  return `${HEAD}
export const algorithmBlocks: Readonly<Record<${type}, AlgorithmBlocks>> = {
${names.map((name) => `  ${property(name)}: ${objectText(algorithmOf(name), '  ')},\n`).join('')}}

/** Returns the first number of ms, from about \`guess\` on, after which \`instant\` is reached. */
export const searchUntil: string = ${literal(searchUntil())}

/** Blocks of the policy that adds held units to another policy. \`$schema\` stands for the schema. */
export const holdingBlocks: HoldingBlocks = ${objectText(holding(), '')}
`
}

function algorithmOf(name) {
  const { read, ...search } = readWithSearch(name)
  const options = { given: GIVEN, names: NAMES, ignored: IGNORED, primitives: PRIMITIVES[name], ...search }
  const count = read.fields.get('cells')?.value ?? 0
  const writerOf = (form) => new SqlWriter(read, { ...options, cells: form, count })
  const isSet = PRIMITIVES[name]?.store !== undefined
  const form = read.fields.has('room') ? 'log' : !isSet && hasFixedIndexes(writerOf('array')) ? 'locals' : 'array'
  const places = Array.from({ length: count }, (_, index) => `c${index + 1}`)
  const result = form === 'locals' ? `array[${places.join(', ')}]` : 'c'
  if (search.searchArguments.length > 0) options.searchArguments = ['p', result]
  const writer = writerOf(form)
  const moved =
    form === 'locals' ? (value) => `array[${value}, 0, ${places.join(', ')}]` : (value) => `array[${value}, 0] || c`
  return {
    wait: method(writer, 'waitMs', TAKE),
    spend: method(writer, 'spend', TAKE, () => result),
    adjust: method(writer, 'adjust', ['c', 'now', 'units', 'taken_at'], moved),
    adopt: method(writer, 'adopt', ['c', 'now', 'known', 'reset_ms'], () => result),
    remaining: method(writer, 'remaining', ['c', 'now']),
    resetAfter: method(writer, 'resetAfterMs', ['c', 'now']),
    search: search.searchArguments.length > 0 ? method(writer, SEARCH, [...TAKE, 'guess']) : undefined,
    take: takeOf(writer, form, result),
  }
}

/**
 * Returns the class of an algorithm with a method that searches, the name of its function, and arguments in front of those
 * of the method.
 */
function readWithSearch(name) {
  const read = readClass(algorithmPath(name))
  const functions = readFunctions(algorithmPath('whole-ms'))
  const first = functions.get('firstWholeMs')
  const until = new Map([['wholeMsUntil', functions.get('wholeMsUntil')]])
  const isUntil = /\bwholeMsUntil\(/.test(readFileSync(algorithmPath(name), 'utf8'))
  if (isUntil) {
    searchInMethod(until, first, ['instant', 'now', 'guess'])
    for (const [key, method] of until) read.methods.set(key, method)
    return { read, search: 'search_until', searchArguments: [] }
  }
  const params = ['cells', 'at', 'now', 'cost', 'guess']
  // the search needs the arrays of the class
  const roll = read.methods.has('roll') ? [statementOf(callOf('roll', params.slice(0, 3)))] : []
  searchInMethod(read.methods, first, params, roll)
  return { read, search: `search_${name.replaceAll('-', '_')}`, searchArguments: ['p', 'c'] }
}

function searchUntil() {
  const { read } = readWithSearch('fixed-window')
  return method(new SqlWriter(read, { given: {}, ignored: IGNORED }), SEARCH, ['instant', 'now', 'guess'])
}

function statementOf(expression) {
  return { type: 'ExpressionStatement', expression }
}

function holding() {
  const read = readClass(algorithmPath('holding-policy'))
  const options = { given: HOLDING_GIVEN, ignored: HOLDING_IGNORED, cells: 'array', primitives: PRIMITIVES.holding }
  const writer = new SqlWriter(read, options)
  const held = ['c', 'now', 'units', 'ends_at']
  return {
    wait: method(writer, 'waitMs', TAKE),
    remaining: method(writer, 'remaining', ['c', 'now']),
    resetAfter: method(writer, 'resetAfterMs', ['c', 'now']),
    kept: method(writer, 'keptMs', ['c', 'now']),
    adopt: method(writer, 'adopt', ['c', 'now', 'known', 'reset_ms'], () => 'c'),
    heldOf: method(writer, 'heldOf', held),
    hold: holdOf(writer, held),
    release: method(writer, 'release', held, () => 'c'),
  }
}

/** Returns a block that adds units which are held for `for_ms`. */
function holdOf(writer, params) {
  writer.result = () => 'c'
  writer.start([...params, 'for_ms'])
  writer.variables.set('ends_at', 'float8')
  writer.methodText('endsAt', ['now', 'for_ms'], { target: 'ends_at' })
  writer.methodText('hold', params, { returns: true })
  writer.writeResult()
  return block(writer, writer.take())
}

/** Returns a block that returns the result of a method, or with `result` the changed cells. */
function method(writer, name, params, result = (value) => value) {
  writer.result = result
  writer.start(params)
  const hasReturned = writer.methodText(name, params, { returns: true })
  if (!hasReturned) writer.writeResult()
  return block(writer, writer.take())
}

/** `outer`: variables around the block. */
function block(writer, written, outer = []) {
  const outside = new Map(outer.map((name) => [name, 'float8']))
  const text = fewerStatements(written, writer.variables, outside)
  const names = writer.declarations(text)
  const cells = writer.withCells(text)
  const { text: body, variables } = writer.withConstants([...cells.variables, '---', cells.text].join('\n'))
  const [before, after] = body.split('---\n')
  const all = [...variables, ...before.split('\n').filter(Boolean), ...names]
  if (writer.options.cells === 'log') all.unshift('count float8 := cardinality(c);')
  const declared = all.length === 0 ? '' : `declare\n${indented(all.join('\n'))}\n`
  return `${declared}begin\n${indented(after)}\nend;`
}

/** Returns a block that takes units, and sets `spent` to the cells if they fit. */
function takeOf(writer, form, result) {
  const text = writer.inline('take', TAKE, OUTPUTS)
  if (form === 'locals') return block(writer, `${text}\nif wait_ms = 0 then\n  spent := ${result};\nend if;`, OUTPUTS)
  // the caller compares the cells before with those in the table
  const taken = block(writer, `spent := c;\n${text}`, OUTPUTS)
  return taken.replace(/(?<!spent := |float8 := cardinality\()\bc\b/g, 'spent')
}

/** Whether all indexes of cells are constants. */
function hasFixedIndexes(writer) {
  return !/\bc\[(?!\d+\])/.test(writer.inline('take', TAKE, OUTPUTS))
}

function indented(text) {
  return text.replaceAll(/^/gm, '  ')
}

function objectText(object, indent) {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  const lines = entries.map(
    ([name, value]) =>
      `${indent}  ${name}: ${typeof value === 'string' ? literal(value) : objectText(value, `${indent}  `)},\n`,
  )
  return `{\n${lines.join('')}${indent}}`
}

const HEAD = `// Written by tools/build/embed-lua.mjs from packages/limiter-core/src/algorithms: change the classes, and run it.

/**
 * Blocks of PL/pgSQL for one algorithm. \`p\` has the numbers of the policy, see \`policyNumbers\`, and \`c\` the cells. A log
 * has no cell with the number of its timestamps.
 */
export interface AlgorithmBlocks {
  /** Returns the wait of \`cost\` at \`now\`. */
  readonly wait: string
  /** Returns the cells after a take of \`cost\`. */
  readonly spend: string
  /** Returns the applied units, 0, and the cells after an adjustment by \`units\` of a take at \`taken_at\`. */
  readonly adjust: string
  /** Returns cells with \`known\` units that are free after \`reset_ms\`. */
  readonly adopt: string
  readonly remaining: string
  readonly resetAfter: string
  /** Returns the first millisecond at which \`cost\` fits, from about \`guess\` on; undefined if no method needs it. */
  readonly search?: string
  /**
   * Takes the units if they fit: sets \`wait_ms\`, \`units_left\`, \`reset_ms\` and \`grows_ms\`, and \`spent\` to the changed
   * cells.
   */
  readonly take: string
}

/** Blocks like those of algorithms; \`heldOf\` and \`release\` have \`units\` that are held until \`ends_at\`. */
export interface HoldingBlocks {
  readonly wait: string
  readonly remaining: string
  readonly resetAfter: string
  readonly kept: string
  readonly adopt: string
  readonly heldOf: string
  /** Returns the cells with \`units\` that are held for \`for_ms\`. */
  readonly hold: string
  readonly release: string
}
`
