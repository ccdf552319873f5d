// Translates methods of an algorithm to Lua, as functions and as texts without functions.
import { atom, FIRST, mathName, OUTPUTS, POSITION, PRECEDENCE } from './expressions.mjs'
import { isBoolean, isField, Scope, termsOf } from './scope.mjs'
import { Statements } from './statements.mjs'

/** Words of Lua that are names in TypeScript. */
const RESERVED = new Set(['end', 'repeat', 'until', 'then', 'local', 'elseif', 'nil', 'not', 'and', 'or'])

/**
 * `options.rounds`: cells that hold a whole number of ms if the key is stored as an integer. `options.locals`: whether
 * cells are local variables. `options.own`: the field of `c` with the cells of a facet. `options.functions`: functions
 * of modules.
 */
export class LuaWriter extends Statements {
  /** Local functions and variables around each text. */
  globals = ['c', 'now', 'floor', 'ceil', 'min', 'max', 'huge', 'KEYS', 'ARGV', 'call', 'format', 'time', 'at']
  operators = { '===': '==', '!==': '~=', '&&': 'and', '||': 'or' }
  infinity = 'huge'
  words = { endIf: 'end', loop: 'do', endLoop: 'end' }

  nameOf(name) {
    const plain = name.replace(/^_/, '')
    return RESERVED.has(plain) ? `${plain}Value` : plain
  }

  /**
   * Returns a local function with the text of a method. `outputs`: names of the numbers that the method writes, by
   * index; the function returns `returned`.
   */
  method(name, as, params, outputs, returned) {
    this.start(params)
    this.begin(`local function ${as}(${params.join(', ')})`)
    if (outputs) this.line(`local ${outputs.filter(Boolean).join(', ')}`)
    this.outputs = outputs ?? []
    this.methodText(name, params, outputs ? { outputs } : { returns: true })
    if (outputs) this.line(`return ${returned.join(', ')}`)
    this.end('end')
    this.shared.add(name)
    return this.take()
  }

  /**
   * Returns local functions for methods that other methods call more than once, in the order in which they need each
   * other, without those that an earlier call returned. Later texts call them instead of repeating them.
   */
  sharedFunctions(names) {
    const needed = names.flatMap((name) => this.calledBy(this.read.methods.get(name).body))
    const texts = []
    for (const name of needed) {
      if (names.includes(name) || this.shared.has(name)) continue
      texts.push(...this.sharedFunctions([...names, name]))
      const { params } = this.read.methods.get(name)
      const isShared = !params.includes(OUTPUTS) && this.callCount(name) > 1 && !this.isExpression(name)
      if (isShared && !this.shared.has(name)) texts.push(this.method(name, this.nameOf(name), this.luaParams(name)))
    }
    return texts
  }

  callCount(name) {
    const all = [...this.read.methods.values()].flatMap(({ body }) => this.calledBy(body))
    return all.filter((called) => called === name).length
  }

  luaParams(name) {
    const { params } = this.read.methods.get(name)
    return params.filter((param) => param !== POSITION).map((param) => (param === 'cells' ? 'c' : this.nameOf(param)))
  }

  /** Returns declarations of the fields that are computed from the constants of a policy, and of the arrays. */
  declarations(given) {
    this.start([])
    const scope = this.constantScope()
    for (const [name, value] of this.read.fields) {
      if (!given.includes(name)) this.line(`local ${this.nameOf(name)} = ${this.expression(value, scope)}`)
    }
    for (const array of this.read.arrays) {
      const places = this.placesOf(array)
      this.line(places ? `local ${places.join(', ')}` : `local ${this.nameOf(array)} = {}`)
    }
    return this.take()
  }

  /** Returns an expression of the constants of a policy. */
  ofConstants(node) {
    return this.expression(node, this.constantScope())
  }

  arrow(node, scope) {
    const inner = new Scope(this, scope)
    const params = node.params.map(({ value }) => inner.declare(value))
    return atom(this.closure(params, node.body, inner))
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

  /** Returns a function of a module as an expression. */
  functionText({ params, body }) {
    const outer = this.lines
    const outerIndent = this.indent
    this.lines = []
    this.indent += '  '
    const scope = new Scope(this)
    const names = params.map((param) => scope.declare(param))
    this.body(body, scope, { returns: true })
    const text = this.take()
    this.lines = outer
    this.indent = outerIndent
    return `function(${names.join(', ')})\n${text}\n${outerIndent}end`
  }

  conditional({ test, consequent, alternate }, scope) {
    if (isBoolean(consequent)) throw new Error('`and` with a boolean that may be false')
    const value = this.operand(consequent, scope, PRECEDENCE.and)
    const other = this.operand(alternate, scope, PRECEDENCE.or)
    return { text: `${this.operand(test, scope, PRECEDENCE.and)} and ${value} or ${other}`, precedence: PRECEDENCE.or }
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

  /** Returns what an expression calls. Functions of modules that are no methods are needed rarely, so they are made there. */
  functionName(callee, scope) {
    if (callee.type === 'MemberExpression') return mathName(callee) === 'abs' ? 'math.abs' : mathName(callee)
    const made = this.options.functions?.get(callee.value)
    return scope.find(callee.value) ?? (made ? `(${this.functionText(made)})` : callee.value)
  }

  innerCall(node, scope) {
    return `inner.${node.callee.property.value}(${this.arguments(node, scope)})`
  }

  innerStatement(node, scope, { outputs }) {
    const writes = node.arguments.some(({ expression }) => expression.value === OUTPUTS)
    if (!writes) this.line(this.hoisted(node, scope))
    else this.line(`${outputs.filter(Boolean).join(', ')} = inner.numbersOf(${this.arguments(node, scope)})`)
  }

  writeResult(value) {
    this.line(value === undefined ? 'return' : `return ${value}`)
  }

  writeDeclaration(name, value) {
    this.line(value === undefined ? `local ${name}` : `local ${name} = ${value}`)
  }

  writeAssignment(target, value) {
    this.line(`${target} = ${value}`)
  }

  assignTo(target, right, scope) {
    const isWhole = this.options.rounds?.includes(target) && right.type !== 'NumericLiteral'
    if (!isWhole) {
      this.assign(target, right, scope)
      return
    }
    this.writeAssignment(target, this.hoisted(right, scope))
    this.line(`if ${this.options.locals ? 'native' : 'c.native'} then ${target} = floor(${target}) end`)
  }

  beginCall() {
    this.begin('do')
  }

  endCall() {
    this.end('end')
  }
}
