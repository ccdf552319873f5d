// Translates expressions of an algorithm to Lua.
import { superName } from './algorithm-class.mjs'
import { LuaLines } from './lua-lines.mjs'
import { expressionOf, isBoolean, isField, nameOf, placeName, Scope, termsOf } from './scope.mjs'

const BINARY = { '===': '==', '!==': '~=', '&&': 'and', '||': 'or' }
export const PRECEDENCE = {
  or: 1,
  and: 2,
  '<': 3,
  '>': 3,
  '<=': 3,
  '>=': 3,
  '~=': 3,
  '==': 3,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
}
const UNARY = 7
const ATOM = 9
/** Local functions and variables around each text. */
const GLOBALS = ['c', 'now', 'floor', 'ceil', 'min', 'max', 'huge', 'KEYS', 'ARGV', 'call', 'format', 'time', 'at']
/** Names of arguments that Lua code does not need: the cells of a key are a table of their own. */
export const POSITION = 'at'
export const OUTPUTS = 'numbers'
/** Field of a facet with the index of its first cell. */
const FIRST = 'first'

export class LuaExpressions extends LuaLines {
  /** Lua names of the numbers that the current text writes, by index. */
  outputs = []
  /** Methods that are local functions; calls of other methods are inlined. */
  shared = new Set()

  /** `options.rounds`: cells that hold a whole number of ms if the key is stored as an integer. */
  constructor(read, options = {}) {
    super()
    this.read = read
    this.options = options
  }

  /** Begins a text in which these names are taken. */
  start(names) {
    const fields = [...this.read.fields.keys()].map(nameOf)
    const methods = [...this.read.methods.keys()].map(nameOf)
    const elements = [...this.read.arrays].flatMap((array) => this.placesOf(array) ?? nameOf(array))
    this.used = new Set([...GLOBALS, ...fields, ...methods, ...elements, ...names.filter(Boolean)])
  }

  expression(node, scope) {
    return this.write(node, scope).text
  }

  operand(node, scope, least) {
    const { text, precedence } = this.write(node, scope)
    return precedence < least ? `(${text})` : text
  }

  write(node, scope) {
    switch (node.type) {
      case 'LuaName':
        return atom(node.name)
      case 'NumericLiteral':
      case 'BooleanLiteral':
        return atom(String(node.value))
      case 'ParenthesisExpression':
        return this.write(node.expression, scope)
      case 'Identifier':
        return atom(
          this.read.constants.has(node.value) ? String(this.read.constants.get(node.value)) : scope.get(node.value),
        )
      case 'UnaryExpression':
        return this.unary(node, scope)
      case 'BinaryExpression':
        return this.binary(node, scope)
      case 'ConditionalExpression':
        return this.conditional(node, scope)
      case 'MemberExpression':
        return atom(this.member(node, scope))
      case 'CallExpression':
        return this.callExpression(node, scope)
      case 'ArrowFunctionExpression': {
        const inner = new Scope(this, scope)
        const params = node.params.map(({ value }) => inner.declare(value))
        return atom(this.closure(params, node.body, inner))
      }
      default:
        throw new Error(`not translated: ${node.type}`)
    }
  }

  /** Returns a function, whose calls of methods are inlined into its own body. */
  closure(params, body, scope) {
    const outer = this.lines
    const { length } = this.indent
    this.lines = []
    this.indent = `${this.indent}  `
    const value = this.hoisted(body, scope)
    const lines = this.lines
    this.lines = outer
    this.indent = ' '.repeat(length)
    const head = `function(${params.join(', ')})`
    return lines.length === 0
      ? `${head} return ${value} end`
      : `${head}\n${lines.join('\n')}\n${this.indent}  return ${value}\n${this.indent}end`
  }

  unary({ operator, argument }, scope) {
    const text = this.operand(argument, scope, UNARY)
    return { text: operator === '!' ? `not ${text}` : `-${text}`, precedence: UNARY }
  }

  binary({ operator, left, right }, scope) {
    const lua = BINARY[operator] ?? operator
    const precedence = PRECEDENCE[lua]
    // sums of doubles are not associative
    const text = `${this.operand(left, scope, precedence)} ${lua} ${this.operand(right, scope, precedence + 1)}`
    return { text, precedence }
  }

  conditional({ test, consequent, alternate }, scope) {
    if (isBoolean(consequent)) throw new Error('`and` with a boolean that may be false')
    const value = this.operand(consequent, scope, PRECEDENCE.and)
    const other = this.operand(alternate, scope, PRECEDENCE.or)
    return { text: `${this.operand(test, scope, PRECEDENCE.and)} and ${value} or ${other}`, precedence: PRECEDENCE.or }
  }

  member({ object, property }, scope) {
    if (object.type === 'Identifier' && object.value === 'Number') return 'huge'
    if (object.type === 'Identifier' && object.value === 'policy') return nameOf(property.value)
    if (object.type === 'Identifier' && object.value === 'cells') return this.cell(property.expression, scope)
    if (object.type === 'Identifier' && object.value === OUTPUTS)
      return this.outputs[this.constantOf(property.expression)]
    const array = object.type === 'Identifier' ? scope.arrayOf(object.value) : this.arrayOf(object)
    if (array) {
      if (this.placesOf(array)) return placeName(property.expression.value)
      return `${nameOf(array)}[${this.index(property.expression, scope)}]`
    }
    return nameOf(property.value)
  }

  arrayOf(node) {
    return [...this.read.arrays].find((name) => isField(node, name))
  }

  /** Returns a cell: an element of a table, or with `options.locals` a local variable. */
  cell(index, scope) {
    const place = this.index(index, scope)
    if (!this.options.locals) return `${this.cellsOf(index, scope)}[${place}]`
    if (!/^\d+$/.test(place)) throw new Error('a cell that is no variable')
    return `${scope.get('cells')}${place}`
  }

  /** Returns the table of a cell: a facet has a table of its own for its cells. */
  cellsOf(index, scope) {
    const cells = scope.get('cells')
    return termsOf(index).some((term) => isField(term, FIRST)) ? `${cells}.${this.options.own}` : cells
  }

  /** Returns an index from 1 on. */
  index(node, scope) {
    const terms = termsOf(node).filter((term) => term.value !== POSITION && !isField(term, FIRST))
    const fixed = terms.map((term) => this.constantOf(term)).filter((value) => value !== undefined)
    const others = terms.filter((term) => this.constantOf(term) === undefined)
    const sum = fixed.reduce((one, other) => one + other, 1)
    const text = others.map((term) => this.operand(term, scope, PRECEDENCE['+'])).join(' + ')
    if (text === '') return String(sum)
    return sum === 0 ? text : `${text} + ${sum}`
  }

  constantOf(node) {
    if (node.type === 'NumericLiteral') return node.value
    return node.type === 'Identifier' ? this.read.constants.get(node.value) : undefined
  }

  callExpression(node, scope) {
    const method = this.methodOf(node)
    if (this.isInner(node)) return atom(`inner.${node.callee.property.value}(${this.arguments(node, scope)})`)
    if (method && this.shared.has(this.calledName(node))) {
      return atom(`${nameOf(this.calledName(node))}(${this.arguments(node, scope)})`)
    }
    if (method) {
      if (this.isInlined(node)) throw new Error('a call with statements, in the condition of a loop')
      const inner = new Scope(this)
      for (const [index, { expression }] of node.arguments.entries()) {
        if (method.params[index] !== POSITION) inner.bindNode(method.params[index], expression, scope)
      }
      return this.write(expressionOf(method), inner)
    }
    const { callee } = node
    const name = this.functionName(callee, scope)
    const args = node.arguments.map(({ expression }) => this.expression(expression, scope))
    return atom(`${name}(${args.join(', ')})`)
  }

  /** Returns what an expression calls. Functions of modules that are no methods are needed rarely, so they are made there. */
  functionName(callee, scope) {
    if (callee.type === 'MemberExpression') return mathName(callee)
    const made = this.options.functions?.get(callee.value)
    return scope.find(callee.value) ?? (made ? `(${this.functionText(made)})` : callee.value)
  }

  /** Returns the arguments of a call of a Lua function. */
  arguments(node, scope) {
    const args = node.arguments.filter(({ expression: { value } }) => value !== POSITION && value !== OUTPUTS)
    return args.map(({ expression }) => this.expression(expression, scope)).join(', ')
  }

  /** Whether a node calls a method of the policy inside of a facet. */
  isInner({ type, callee }) {
    return type === 'CallExpression' && isField(callee.object, 'inner')
  }

  /** Writes an argument of a method that is a part of an expression. */
  argument({ node, scope }) {
    return this.operand(node, scope, UNARY)
  }

  /** Returns the Lua names of the elements of an array; undefined if its indexes are computed. */
  placesOf(array) {
    const indexes = new Map()
    let isFixed = true
    const aliases = new Set()
    const visit = (node) => {
      if (!node || typeof node !== 'object') return
      if (node.type === 'VariableDeclarator' && isField(node.init, array)) aliases.add(node.id.value)
      const isArray =
        isField(node.object, array) || (node.object?.type === 'Identifier' && aliases.has(node.object.value))
      if (node.type === 'MemberExpression' && isArray && node.property.type === 'Computed') {
        const index = node.property.expression
        if (index.type === 'Identifier' && this.read.constants.has(index.value)) indexes.set(index.value, true)
        else isFixed = false
      }
      for (const value of Object.values(node)) visit(value)
    }
    for (const { body } of this.read.methods.values()) visit(body)
    return isFixed ? [...indexes.keys()].map(placeName) : undefined
  }

  /** Returns the names of the methods that statements call. */
  calledBy(node) {
    if (!node || typeof node !== 'object') return []
    const own = this.methodOf(node) ? [this.calledName(node)] : []
    return [...own, ...Object.values(node).flatMap((value) => this.calledBy(value))]
  }

  callCount(name) {
    const all = [...this.read.methods.values()].flatMap(({ body }) => this.calledBy(body))
    return all.filter((called) => called === name).length
  }

  methodOf(node) {
    if (node.type !== 'CallExpression') return undefined
    const { type, object } = node.callee
    const isOwn = type === 'SuperPropExpression' || type === 'Identifier' || object?.type === 'ThisExpression'
    return isOwn ? this.read.methods.get(this.calledName(node)) : undefined
  }

  calledName({ callee: { type, property, value } }) {
    if (type === 'Identifier') return value
    return type === 'SuperPropExpression' ? superName(property.value) : property.value
  }

  /** Whether a node calls a method with statements; a method that only returns an expression is a part of expressions. */
  isInlined(node) {
    const method = this.methodOf(node)
    return method !== undefined && !this.shared.has(this.calledName(node)) && !this.isExpression(this.calledName(node))
  }

  isExpression(name) {
    const expression = expressionOf(this.read.methods.get(name))
    return expression !== undefined && !this.needsStatements(expression)
  }

  needsStatements(node) {
    if (!node || typeof node !== 'object' || node.type === 'ArrowFunctionExpression') return false
    return this.isInlined(node) || Object.values(node).some((value) => this.needsStatements(value))
  }
}

function atom(text) {
  return { text, precedence: ATOM }
}

function mathName({ object, property }) {
  if (object.value !== 'Math') throw new Error(`not translated: a method of ${object.value}`)
  return property.value === 'abs' ? 'math.abs' : property.value
}
