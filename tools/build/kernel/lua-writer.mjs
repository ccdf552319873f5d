// Translates methods of an algorithm to Lua: numbers, `cells[at + index]`, fields and arrays of the class, local
// variables, `if`, `while`, and calls. Calls of methods are inlined, because a Redis script creates its functions anew
// in each run, and a call costs as much as ten operations.

import {
  assigns,
  blockOf,
  expressionOf,
  isBoolean,
  isField,
  isLogical,
  mayReturn,
  nameOf,
  placeName,
  Scope,
  termsOf,
  unwrapped,
} from './scope.mjs'

const BINARY = { '===': '==', '!==': '~=', '&&': 'and', '||': 'or' }
const PRECEDENCE = {
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
const POSITION = 'at'
const OUTPUTS = 'numbers'

export class LuaWriter {
  #class
  #options
  #lines = []
  #indent = ''
  #used = new Set()
  #shared = new Set()

  /** `options.rounds`: cells that hold a whole number of ms if the key is stored as an integer. */
  constructor(read, options = {}) {
    this.#class = read
    this.#options = options
  }

  /**
   * Returns a local function with the text of a method. `outputs`: names of the numbers that the method writes, by
   * index; the function returns `returned`.
   */
  method(name, as, params, outputs, returned) {
    this.#start(params)
    this.#begin(`local function ${as}(${params.join(', ')})`)
    if (outputs) this.#line(`local ${outputs.filter(Boolean).join(', ')}`)
    this.#text(name, params, outputs ? { outputs } : { returns: true })
    if (outputs) this.#line(`return ${returned.join(', ')}`)
    this.#end('end')
    this.#shared.add(name)
    return this.#take()
  }

  /**
   * Returns local functions for methods that other methods call more than once, in the order in which they need each
   * other, without those that an earlier call returned. Later texts call them instead of repeating them.
   */
  sharedFunctions(names) {
    const needed = names.flatMap((name) => this.#calledBy(this.#class.methods.get(name).body))
    const texts = []
    for (const name of needed) {
      if (names.includes(name) || this.#shared.has(name)) continue
      texts.push(...this.sharedFunctions([...names, name]))
      const { params } = this.#class.methods.get(name)
      const isShared = !params.includes(OUTPUTS) && this.#callCount(name) > 1 && !this.#isExpression(name)
      if (isShared && !this.#shared.has(name)) texts.push(this.method(name, nameOf(name), this.#luaParams(name)))
    }
    return texts
  }

  #luaParams(name) {
    const { params } = this.#class.methods.get(name)
    return params.filter((param) => param !== POSITION).map((param) => (param === 'cells' ? 'c' : nameOf(param)))
  }

  /** Returns the names of the methods that statements call. */
  #calledBy(node) {
    if (!node || typeof node !== 'object') return []
    const own = this.#methodOf(node) ? [node.callee.property.value] : []
    return [...own, ...Object.values(node).flatMap((value) => this.#calledBy(value))]
  }

  #callCount(name) {
    const all = [...this.#class.methods.values()].flatMap(({ body }) => this.#calledBy(body))
    return all.filter((called) => called === name).length
  }

  /** Returns the text of a method without a function around it, which sets the local variables `outputs`. */
  inline(name, params, outputs) {
    this.#start([...params, ...outputs])
    this.#line(`local ${outputs.filter(Boolean).join(', ')}`)
    this.#text(name, params, { outputs })
    return this.#take()
  }

  /** Returns a function of a module as a local function. */
  plainFunction(name, { params, body }) {
    this.#start([])
    const scope = new Scope(this)
    const names = params.map((param) => scope.declare(param))
    this.#begin(`local function ${name}(${names.join(', ')})`)
    this.#body(body, scope, { returns: true })
    this.#end('end')
    return this.#take()
  }

  /** Returns declarations of the fields that are computed from the constants of a policy, and of the arrays. */
  declarations(given) {
    this.#start([])
    const scope = new Scope(this)
    for (const [name, lua] of Object.entries(this.#options.names ?? {})) scope.bind(name, lua)
    for (const [name, value] of this.#class.fields) {
      if (!given.includes(name)) this.#line(`local ${nameOf(name)} = ${this.expression(value, scope)}`)
    }
    for (const array of this.#class.arrays) {
      const places = this.#placesOf(array)
      this.#line(places ? `local ${places.join(', ')}` : `local ${nameOf(array)} = {}`)
    }
    return this.#take()
  }

  /** Returns an expression of the constants of a policy. */
  constant(node) {
    const scope = new Scope(this)
    for (const [name, lua] of Object.entries(this.#options.names)) scope.bind(name, lua)
    return this.expression(node, scope)
  }

  /** Returns the Lua names of the elements of an array; undefined if its indexes are computed. */
  #placesOf(array) {
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
        if (index.type === 'Identifier' && this.#class.constants.has(index.value)) indexes.set(index.value, true)
        else isFixed = false
      }
      for (const value of Object.values(node)) visit(value)
    }
    for (const { body } of this.#class.methods.values()) visit(body)
    return isFixed ? [...indexes.keys()].map(placeName) : undefined
  }

  #text(name, params, result) {
    const { params: own, body } = this.#class.methods.get(name)
    const scope = new Scope(this)
    const bound = own.filter((param) => param !== POSITION && param !== OUTPUTS)
    for (const [index, param] of bound.entries()) scope.bind(param, params[index])
    this.#body(body, scope, result)
  }

  /**
   * Writes statements. `result` says what a `return` does: `{ returns: true }` returns, `{ target }` assigns to a
   * variable, `{ outputs }` and `{}` return nothing. Returns whether every path has returned.
   */
  #body(statements, scope, result) {
    for (const [index, statement] of statements.entries()) {
      if (statement.type === 'ReturnStatement') {
        this.#return(statement, scope, result)
        return true
      }
      if (statement.type === 'IfStatement' && !result.returns && mayReturn(statement)) {
        this.#branch(statement, statements.slice(index + 1), scope, result)
        return true
      }
      this.#statement(statement, scope, result)
    }
    return false
  }

  /** Writes an `if` that may return: what follows it becomes its `else`. */
  #branch({ test, consequent, alternate }, rest, scope, result) {
    this.#begin(`if ${this.#hoisted(test, scope)} then`)
    if (!this.#body(blockOf(consequent), new Scope(this, scope), result)) {
      this.#body(rest, new Scope(this, scope), result)
    }
    const others = [...(alternate ? blockOf(alternate) : []), ...rest]
    if (others.length > 0) {
      this.#middle('else')
      this.#body(others, new Scope(this, scope), result)
    }
    this.#end('end')
  }

  #return({ argument }, scope, result) {
    if (!argument) {
      if (result.returns) this.#line('return')
      return
    }
    const plain = unwrapped(argument)
    if (plain.type === 'ConditionalExpression' && this.#needsStatements(plain)) {
      const branch = (argument) => ({ type: 'ReturnStatement', argument })
      const { test, consequent, alternate } = plain
      this.#if({ test, consequent: branch(consequent), alternate: branch(alternate) }, scope, result)
    } else if (result.returns) this.#line(`return ${this.#hoisted(argument, scope)}`)
    else if (result.target) this.#assign(result.target, argument, scope)
    else this.#hoisted(argument, scope)
  }

  #statement(node, scope, result) {
    if (node.type === 'VariableDeclaration') for (const one of node.declarations) this.#declare(one, scope)
    else if (node.type === 'ExpressionStatement') this.#expressionStatement(node.expression, scope, result)
    else if (node.type === 'IfStatement') this.#if(node, scope, result)
    else if (node.type === 'WhileStatement') this.#while(node, scope)
    else if (node.type === 'BlockStatement') for (const one of node.stmts) this.#statement(one, scope, result)
    else throw new Error(`not translated: ${node.type}`)
  }

  #declare({ id, init }, scope) {
    const array = [...this.#class.arrays].find((name) => isField(init, name))
    if (array) {
      scope.alias(id.value, array)
      return
    }
    const name = scope.declare(id.value)
    if (init) this.#local(name, init, scope)
    else this.#line(`local ${name}`)
  }

  #local(name, value, scope) {
    if (this.#needsStatements(value)) {
      this.#line(`local ${name}`)
      this.#assign(name, value, scope)
    } else this.#line(`local ${name} = ${this.expression(value, scope)}`)
  }

  /** Assigns an expression, whose calls become statements in front of it. */
  #assign(target, node, scope) {
    const plain = unwrapped(node)
    if (plain.type === 'ConditionalExpression' && this.#needsStatements(plain)) {
      this.#begin(`if ${this.#hoisted(plain.test, scope)} then`)
      this.#assign(target, plain.consequent, scope)
      this.#middle('else')
      this.#assign(target, plain.alternate, scope)
      this.#end('end')
    } else if (isLogical(plain) && this.#needsStatements(plain.right)) {
      // as in TypeScript, the right side is evaluated only if the left side does not decide
      this.#assign(target, plain.left, scope)
      this.#begin(`if ${plain.operator === '&&' ? '' : 'not '}${target} then`)
      this.#assign(target, plain.right, scope)
      this.#end('end')
    } else if (this.#isInlined(plain)) this.#call(plain, scope, { target })
    else this.#line(`${target} = ${this.#hoisted(plain, scope)}`)
  }

  #expressionStatement(node, scope, result) {
    if (node.type === 'UpdateExpression') {
      const target = this.expression(node.argument, scope)
      this.#line(`${target} = ${target} ${node.operator[0]} 1`)
    } else if (node.type === 'AssignmentExpression') this.#assignment(node, scope, result)
    else if (this.#isInlined(node)) this.#call(node, scope, { outputs: result.outputs })
    else if (this.#methodOf(node)) this.#line(this.#hoisted(node, scope))
    else throw new Error(`not translated: ${node.type} as a statement`)
  }

  #assignment({ left, operator, right }, scope, { outputs }) {
    const isOutput = outputs && left.object?.value === OUTPUTS
    const target = isOutput ? outputs[this.#constant(left.property.expression)] : this.expression(left, scope)
    if (!target) return
    if (operator === '=') {
      const whole = this.#options.rounds === target && right.type !== 'NumericLiteral'
      if (whole) {
        const value = this.#hoisted(right, scope)
        this.#line(`${target} = ${value}`)
        this.#line(`if c.native then ${target} = floor(${target}) end`)
      } else this.#assign(target, right, scope)
    } else {
      const value = this.#operand(this.#withoutCalls(right, scope), scope, PRECEDENCE['*'])
      this.#line(`${target} = ${target} ${operator[0]} ${value}`)
    }
  }

  #if({ test, consequent, alternate }, scope, result, word = 'if') {
    this.#begin(`${word} ${this.#hoisted(test, scope)} then`)
    this.#body(blockOf(consequent), new Scope(this, scope), result)
    if (alternate) {
      this.#middle('else')
      this.#body(blockOf(alternate), new Scope(this, scope), result)
    }
    this.#end('end')
  }

  #while({ test, body }, scope) {
    this.#begin(`while ${this.expression(test, scope)} do`)
    this.#body(blockOf(body), new Scope(this, scope), {})
    this.#end('end')
  }

  /** Writes the statements of calls in an expression, and returns the rest of it. */
  #hoisted(node, scope) {
    return this.expression(this.#withoutCalls(node, scope), scope)
  }

  #withoutCalls(node, scope) {
    if (!node || typeof node !== 'object' || node.type === 'ArrowFunctionExpression') return node
    if (Array.isArray(node)) return node.map((one) => this.#withoutCalls(one, scope))
    if (this.#isInlined(node)) {
      const name = this.fresh('value')
      this.#line(`local ${name}`)
      this.#call(node, scope, { target: name })
      return { type: 'LuaName', name }
    }
    const entries = Object.entries(node).map(([key, value]) => [
      key,
      key === 'span' ? value : this.#withoutCalls(value, scope),
    ])
    return Object.fromEntries(entries)
  }

  #needsStatements(node) {
    if (!node || typeof node !== 'object' || node.type === 'ArrowFunctionExpression') return false
    return this.#isInlined(node) || Object.values(node).some((value) => this.#needsStatements(value))
  }

  /** Whether a node calls a method with statements; a method that only returns an expression is a part of expressions. */
  #isInlined(node) {
    const method = this.#methodOf(node)
    return (
      method !== undefined &&
      !this.#shared.has(node.callee.property.value) &&
      !this.#isExpression(node.callee.property.value)
    )
  }

  #isExpression(name) {
    const expression = expressionOf(this.#class.methods.get(name))
    return expression !== undefined && !this.#needsStatements(expression)
  }

  #methodOf({ type, callee }) {
    const own = type === 'CallExpression' && callee.object?.type === 'ThisExpression'
    return own ? this.#class.methods.get(callee.property.value) : undefined
  }

  /** Writes the text of a called method. */
  #call(node, scope, result) {
    const { params, body } = this.#methodOf(node)
    const inner = new Scope(this)
    this.#begin('do')
    for (const [index, { expression }] of node.arguments.entries()) {
      const param = params[index]
      if (param === POSITION || param === OUTPUTS) continue
      if (expression.type === 'Identifier' || expression.type === 'NumericLiteral') {
        inner.bind(param, this.expression(expression, scope))
        if (assigns(body, param)) throw new Error(`parameter ${param} is assigned`)
      } else {
        const name = this.fresh(param)
        inner.bind(param, name)
        this.#local(name, expression, scope)
      }
    }
    this.#body(body, inner, result)
    this.#end('end')
  }

  expression(node, scope) {
    return this.#write(node, scope).text
  }

  #operand(node, scope, least) {
    const { text, precedence } = this.#write(node, scope)
    return precedence < least ? `(${text})` : text
  }

  #write(node, scope) {
    switch (node.type) {
      case 'LuaName':
        return atom(node.name)
      case 'NumericLiteral':
        return atom(String(node.value))
      case 'ParenthesisExpression':
        return this.#write(node.expression, scope)
      case 'Identifier':
        return atom(
          this.#class.constants.has(node.value) ? String(this.#class.constants.get(node.value)) : scope.get(node.value),
        )
      case 'UnaryExpression':
        return this.#unary(node, scope)
      case 'BinaryExpression':
        return this.#binary(node, scope)
      case 'ConditionalExpression':
        return this.#conditional(node, scope)
      case 'MemberExpression':
        return atom(this.#member(node, scope))
      case 'CallExpression':
        return this.#callExpression(node, scope)
      case 'ArrowFunctionExpression': {
        const inner = new Scope(this, scope)
        const params = node.params.map(({ value }) => inner.declare(value))
        return atom(this.#closure(params, node.body, inner))
      }
      default:
        throw new Error(`not translated: ${node.type}`)
    }
  }

  /** Returns a function, whose calls of methods are inlined into its own body. */
  #closure(params, body, scope) {
    const outer = this.#lines
    const { length } = this.#indent
    this.#lines = []
    this.#indent = `${this.#indent}  `
    const value = this.#hoisted(body, scope)
    const lines = this.#lines
    this.#lines = outer
    this.#indent = ' '.repeat(length)
    const head = `function(${params.join(', ')})`
    return lines.length === 0
      ? `${head} return ${value} end`
      : `${head}\n${lines.join('\n')}\n${this.#indent}  return ${value}\n${this.#indent}end`
  }

  #unary({ operator, argument }, scope) {
    const text = this.#operand(argument, scope, UNARY)
    return { text: operator === '!' ? `not ${text}` : `-${text}`, precedence: UNARY }
  }

  #binary({ operator, left, right }, scope) {
    const lua = BINARY[operator] ?? operator
    const precedence = PRECEDENCE[lua]
    // sums of doubles are not associative
    const text = `${this.#operand(left, scope, precedence)} ${lua} ${this.#operand(right, scope, precedence + 1)}`
    return { text, precedence }
  }

  #conditional({ test, consequent, alternate }, scope) {
    if (isBoolean(consequent)) throw new Error('`and` with a boolean that may be false')
    const value = this.#operand(consequent, scope, PRECEDENCE.and)
    const other = this.#operand(alternate, scope, PRECEDENCE.or)
    return { text: `${this.#operand(test, scope, PRECEDENCE.and)} and ${value} or ${other}`, precedence: PRECEDENCE.or }
  }

  #member({ object, property }, scope) {
    if (object.type === 'Identifier' && object.value === 'Number') return 'huge'
    if (object.type === 'Identifier' && object.value === 'policy') return nameOf(property.value)
    if (object.type === 'Identifier' && object.value === 'cells')
      return `${scope.get('cells')}[${this.#index(property.expression, scope)}]`
    const array = object.type === 'Identifier' ? scope.arrayOf(object.value) : this.#arrayOf(object)
    if (array) {
      if (this.#placesOf(array)) return placeName(property.expression.value)
      return `${nameOf(array)}[${this.#index(property.expression, scope)}]`
    }
    return nameOf(property.value)
  }

  #arrayOf(node) {
    return [...this.#class.arrays].find((name) => isField(node, name))
  }

  /** Returns an index from 1 on. */
  #index(node, scope) {
    const terms = termsOf(node).filter(({ value }) => value !== POSITION)
    const fixed = terms.map((term) => this.#constant(term)).filter((value) => value !== undefined)
    const others = terms.filter((term) => this.#constant(term) === undefined)
    const sum = fixed.reduce((one, other) => one + other, 1)
    const text = others.map((term) => this.#operand(term, scope, PRECEDENCE['+'])).join(' + ')
    if (text === '') return String(sum)
    return sum === 0 ? text : `${text} + ${sum}`
  }

  #constant(node) {
    if (node.type === 'NumericLiteral') return node.value
    return node.type === 'Identifier' ? this.#class.constants.get(node.value) : undefined
  }

  #callExpression(node, scope) {
    const method = this.#methodOf(node)
    if (method && this.#shared.has(node.callee.property.value)) {
      const args = node.arguments.filter((_, index) => method.params[index] !== POSITION)
      return atom(
        `${nameOf(node.callee.property.value)}(${args.map(({ expression }) => this.expression(expression, scope)).join(', ')})`,
      )
    }
    if (method) {
      if (this.#isInlined(node)) throw new Error('a call with statements, in the condition of a loop')
      const inner = new Scope(this)
      for (const [index, { expression }] of node.arguments.entries()) {
        if (method.params[index] !== POSITION) inner.bindNode(method.params[index], expression, scope)
      }
      return this.#write(expressionOf(method), inner)
    }
    const { callee } = node
    const name = callee.type === 'MemberExpression' ? mathName(callee) : (scope.find(callee.value) ?? callee.value)
    const args = node.arguments.map(({ expression }) => this.expression(expression, scope))
    return atom(`${name}(${args.join(', ')})`)
  }

  /** Writes an argument of a method that is a part of an expression. */
  argument({ node, scope }) {
    return this.#operand(node, scope, UNARY)
  }

  /** Returns a Lua name that the current text does not use yet. */
  fresh(name) {
    const lua = nameOf(name)
    let free = lua
    for (let number = 2; this.#used.has(free); number++) free = `${lua}${number}`
    this.#used.add(free)
    return free
  }

  #start(names) {
    const fields = [...this.#class.fields.keys()].map(nameOf)
    const methods = [...this.#class.methods.keys()].map(nameOf)
    const elements = [...this.#class.arrays].flatMap((array) => this.#placesOf(array) ?? nameOf(array))
    this.#used = new Set([...GLOBALS, ...fields, ...methods, ...elements, ...names.filter(Boolean)])
  }

  #line(text) {
    this.#lines.push(this.#indent + text)
  }

  #begin(text) {
    this.#line(text)
    this.#indent += '  '
  }

  #middle(text) {
    this.#indent = this.#indent.slice(2)
    this.#begin(text)
  }

  #end(text) {
    this.#indent = this.#indent.slice(2)
    this.#line(text)
  }

  #take() {
    const text = this.#lines.join('\n')
    this.#lines = []
    return text
  }
}

function atom(text) {
  return { text, precedence: ATOM }
}

function mathName({ object, property }) {
  if (object.value !== 'Math') throw new Error(`not translated: a method of ${object.value}`)
  return property.value === 'abs' ? 'math.abs' : property.value
}
