// Translates expressions of an algorithm. Subclasses write the parts that depend on the language.
import { superName } from './algorithm-class.mjs'
import { CodeLines } from './code-lines.mjs'
import { expressionOf, isField, placeName, Scope, termsOf } from './scope.mjs'

export const PRECEDENCE = { or: 1, and: 2, compare: 3, sum: 5, product: 6, unary: 7, atom: 9 }
const PRECEDENCE_OF = {
  '||': PRECEDENCE.or,
  '&&': PRECEDENCE.and,
  '+': PRECEDENCE.sum,
  '-': PRECEDENCE.sum,
  '*': PRECEDENCE.product,
  '/': PRECEDENCE.product,
  '%': PRECEDENCE.product,
}
/** Names of arguments that generated code does not need: the cells of a key are an array of their own. */
export const POSITION = 'at'
export const OUTPUTS = 'numbers'
/** Field of a facet with the index of its first cell. */
export const FIRST = 'first'

export class Expressions extends CodeLines {
  /** Names of the numbers that the current text writes, by index. */
  outputs = []
  /** Methods that are functions; calls of other methods are inlined. */
  shared = new Set()

  constructor(read, options = {}) {
    super()
    this.read = read
    this.options = options
  }

  /** Begins a text in which these names are taken. */
  start(names) {
    const fields = [...this.read.fields.keys()].map((name) => this.nameOf(name))
    const methods = [...this.read.methods.keys()].map((name) => this.nameOf(name))
    const elements = [...this.read.arrays].flatMap((array) => this.placesOf(array) ?? this.nameOf(array))
    this.used = new Set([...this.globals, ...fields, ...methods, ...elements, ...names.filter(Boolean)])
  }

  /** Returns the scope of expressions of constructors. */
  constantScope() {
    const scope = new Scope(this)
    for (const [name, text] of Object.entries(this.options.names ?? {})) scope.bind(name, text)
    return scope
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
      case 'WrittenName':
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
      case 'ArrowFunctionExpression':
        return this.arrow(node, scope)
      default:
        throw new Error(`not translated: ${node.type}`)
    }
  }

  unary({ operator, argument }, scope) {
    const text = this.operand(argument, scope, PRECEDENCE.unary)
    return { text: operator === '!' ? `not ${text}` : `-${text}`, precedence: PRECEDENCE.unary }
  }

  binary({ operator, left, right }, scope) {
    const precedence = PRECEDENCE_OF[operator] ?? PRECEDENCE.compare
    // sums of doubles are not associative
    const [one, other] = [this.operand(left, scope, precedence), this.operand(right, scope, precedence + 1)]
    return { text: `${one} ${this.operators[operator] ?? operator} ${other}`, precedence }
  }

  member({ object, property }, scope) {
    if (object.type === 'Identifier' && object.value === 'Number') return this.infinity
    if (object.type === 'Identifier' && object.value === 'policy') return this.nameOf(property.value)
    if (object.type === 'Identifier' && object.value === 'cells') return this.cell(property.expression, scope)
    if (object.type === 'Identifier' && object.value === OUTPUTS)
      return this.outputs[this.constantOf(property.expression)]
    const array = object.type === 'Identifier' ? scope.arrayOf(object.value) : this.arrayOf(object)
    if (array) {
      if (this.placesOf(array)) return this.nameOf(placeName(property.expression.value))
      return `${this.nameOf(array)}[${this.index(property.expression, scope)}]`
    }
    return this.nameOf(property.value)
  }

  arrayOf(node) {
    return [...this.read.arrays].find((name) => isField(node, name))
  }

  /** Returns an index from `first` on. */
  index(node, scope, first = 1) {
    const terms = termsOf(node).filter((term) => term.value !== POSITION && !isField(term, FIRST))
    const fixed = terms.map((term) => this.constantOf(term)).filter((value) => value !== undefined)
    const others = terms.filter((term) => this.constantOf(term) === undefined)
    const sum = fixed.reduce((one, other) => one + other, first)
    const text = others.map((term) => this.operand(term, scope, PRECEDENCE.sum)).join(' + ')
    if (text === '') return String(sum)
    return sum === 0 ? text : `${text} + ${sum}`
  }

  constantOf(node) {
    if (node.type === 'NumericLiteral') return node.value
    return node.type === 'Identifier' ? this.read.constants.get(node.value) : undefined
  }

  callExpression(node, scope) {
    const method = this.methodOf(node)
    if (this.isInner(node)) return atom(this.innerCall(node, scope))
    if (method && this.shared.has(this.calledName(node))) {
      return atom(`${this.nameOf(this.calledName(node))}(${this.arguments(node, scope)})`)
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

  /** Returns the arguments of a call of a function. */
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
    return this.operand(node, scope, PRECEDENCE.unary)
  }

  /** Returns the names of the elements of an array; undefined if its indexes are computed. */
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
    return isFixed ? [...indexes.keys()].map((index) => this.nameOf(placeName(index))) : undefined
  }

  /** Returns the names of the methods that statements call. */
  calledBy(node) {
    if (!node || typeof node !== 'object') return []
    const own = this.methodOf(node) ? [this.calledName(node)] : []
    return [...own, ...Object.values(node).flatMap((value) => this.calledBy(value))]
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

export function atom(text) {
  return { text, precedence: PRECEDENCE.atom }
}

/** Returns the name of the method of `Math` that is called. */
export function mathName({ object, property }) {
  if (object.value !== 'Math') throw new Error(`not translated: a method of ${object.value}`)
  return property.value
}
