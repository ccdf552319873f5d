// Translates methods of an algorithm to Lua: numbers, `cells[at + index]`, fields and arrays of the class, local
// variables, `if`, `while`, and calls. Calls of methods are inlined, because a Redis script creates its functions again
// in each run, and a call costs as much as ten operations.

import { LuaExpressions, OUTPUTS, POSITION, PRECEDENCE } from './lua-expressions.mjs'
import { assigns, blockOf, isField, isLogical, mayReturn, nameOf, Scope, unwrapped } from './scope.mjs'

export class LuaWriter extends LuaExpressions {
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
      if (isShared && !this.shared.has(name)) texts.push(this.method(name, nameOf(name), this.luaParams(name)))
    }
    return texts
  }

  luaParams(name) {
    const { params } = this.read.methods.get(name)
    return params.filter((param) => param !== POSITION).map((param) => (param === 'cells' ? 'c' : nameOf(param)))
  }

  /** Returns the text of a method without a function around it, which sets the variables `outputs`. */
  inline(name, params, outputs) {
    this.start([...params, ...outputs])
    this.methodText(name, params, { outputs })
    return this.take()
  }

  /** Returns the text of a method without a function around it, which sets the variable `target` to its result. */
  inlineResult(name, params, target) {
    this.start([...params, target])
    this.methodText(name, params, { target })
    return this.take()
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

  /** Returns declarations of the fields that are computed from the constants of a policy, and of the arrays. */
  declarations(given) {
    this.start([])
    const scope = new Scope(this)
    for (const [name, lua] of Object.entries(this.options.names ?? {})) scope.bind(name, lua)
    for (const [name, value] of this.read.fields) {
      if (!given.includes(name)) this.line(`local ${nameOf(name)} = ${this.expression(value, scope)}`)
    }
    for (const array of this.read.arrays) {
      const places = this.placesOf(array)
      this.line(places ? `local ${places.join(', ')}` : `local ${nameOf(array)} = {}`)
    }
    return this.take()
  }

  /** Returns an expression of the constants of a policy. */
  ofConstants(node) {
    const scope = new Scope(this)
    for (const [name, lua] of Object.entries(this.options.names)) scope.bind(name, lua)
    return this.expression(node, scope)
  }

  methodText(name, params, result) {
    const { params: own, body } = this.read.methods.get(name)
    const scope = new Scope(this)
    const bound = own.filter((param) => param !== POSITION && param !== OUTPUTS)
    for (const [index, param] of bound.entries()) scope.bind(param, params[index])
    this.body(body, scope, result)
  }

  /**
   * Writes statements. `result` says what a `return` does: `{ returns: true }` returns, `{ target }` assigns to a
   * variable, `{ outputs }` and `{}` return nothing. Returns whether every path has returned.
   */
  body(statements, scope, result) {
    for (const [index, statement] of statements.entries()) {
      if (statement.type === 'ReturnStatement') {
        this.writeReturn(statement, scope, result)
        return true
      }
      if (statement.type === 'IfStatement' && !result.returns && mayReturn(statement)) {
        this.branch(statement, statements.slice(index + 1), scope, result)
        return true
      }
      this.writeStatement(statement, scope, result)
    }
    return false
  }

  /** Writes an `if` that may return: what follows it becomes its `else`. */
  branch({ test, consequent, alternate }, rest, scope, result) {
    this.begin(`if ${this.hoisted(test, scope)} then`)
    if (!this.body(blockOf(consequent), new Scope(this, scope), result)) {
      this.body(rest, new Scope(this, scope), result)
    }
    const others = [...(alternate ? blockOf(alternate) : []), ...rest]
    if (others.length > 0) {
      this.middle('else')
      this.body(others, new Scope(this, scope), result)
    }
    this.end('end')
  }

  writeReturn({ argument }, scope, result) {
    if (!argument) {
      if (result.returns) this.line('return')
      return
    }
    const plain = unwrapped(argument)
    if (plain.type === 'ConditionalExpression' && this.needsStatements(plain)) {
      const branch = (argument) => ({ type: 'ReturnStatement', argument })
      const { test, consequent, alternate } = plain
      this.writeIf({ test, consequent: branch(consequent), alternate: branch(alternate) }, scope, result)
    } else if (result.returns) this.line(`return ${this.hoisted(argument, scope)}`)
    else if (result.target) this.assign(result.target, argument, scope)
    else this.hoisted(argument, scope)
  }

  writeStatement(node, scope, result) {
    if (node.type === 'VariableDeclaration') for (const one of node.declarations) this.declare(one, scope)
    else if (node.type === 'ExpressionStatement') this.expressionStatement(node.expression, scope, result)
    else if (node.type === 'IfStatement') this.writeIf(node, scope, result)
    else if (node.type === 'WhileStatement') this.writeWhile(node, scope)
    else if (node.type === 'BlockStatement') for (const one of node.stmts) this.writeStatement(one, scope, result)
    else throw new Error(`not translated: ${node.type}`)
  }

  declare({ id, init }, scope) {
    const array = [...this.read.arrays].find((name) => isField(init, name))
    if (array) {
      scope.alias(id.value, array)
      return
    }
    const name = scope.declare(id.value)
    if (init) this.declareLocal(name, init, scope)
    else this.line(`local ${name}`)
  }

  declareLocal(name, value, scope) {
    if (this.needsStatements(value)) {
      this.line(`local ${name}`)
      this.assign(name, value, scope)
    } else this.line(`local ${name} = ${this.expression(value, scope)}`)
  }

  /** Assigns an expression, whose calls become statements in front of it. */
  assign(target, node, scope) {
    const plain = unwrapped(node)
    if (plain.type === 'ConditionalExpression' && this.needsStatements(plain)) {
      this.begin(`if ${this.hoisted(plain.test, scope)} then`)
      this.assign(target, plain.consequent, scope)
      this.middle('else')
      this.assign(target, plain.alternate, scope)
      this.end('end')
    } else if (isLogical(plain) && this.needsStatements(plain.right)) {
      // as in TypeScript, the right side is evaluated only if the left side does not decide
      this.assign(target, plain.left, scope)
      this.begin(`if ${plain.operator === '&&' ? '' : 'not '}${target} then`)
      this.assign(target, plain.right, scope)
      this.end('end')
    } else if (this.isInlined(plain)) this.call(plain, scope, { target })
    else this.line(`${target} = ${this.hoisted(plain, scope)}`)
  }

  expressionStatement(node, scope, result) {
    if (node.type === 'UpdateExpression') {
      const target = this.expression(node.argument, scope)
      this.line(`${target} = ${target} ${node.operator[0]} 1`)
    } else if (node.type === 'AssignmentExpression') this.assignment(node, scope, result)
    else if (this.isInlined(node)) this.call(node, scope, { outputs: result.outputs })
    else if (this.methodOf(node)) this.line(this.hoisted(node, scope))
    else if (this.isInner(node)) this.innerCall(node, scope, result)
    else throw new Error(`not translated: ${node.type} as a statement`)
  }

  /** Writes a call of the policy inside of a facet. */
  innerCall(node, scope, { outputs }) {
    const writes = node.arguments.some(({ expression }) => expression.value === OUTPUTS)
    if (!writes) this.line(this.hoisted(node, scope))
    else this.line(`${outputs.filter(Boolean).join(', ')} = inner.numbersOf(${this.arguments(node, scope)})`)
  }

  assignment({ left, operator, right }, scope, { outputs }) {
    const isOutput = outputs && left.object?.value === OUTPUTS
    const target = isOutput ? outputs[this.constantOf(left.property.expression)] : this.expression(left, scope)
    if (!target) return
    if (operator === '=') {
      const whole = this.options.rounds?.includes(target) && right.type !== 'NumericLiteral'
      if (whole) {
        const value = this.hoisted(right, scope)
        this.line(`${target} = ${value}`)
        this.line(`if ${this.options.locals ? 'native' : 'c.native'} then ${target} = floor(${target}) end`)
      } else this.assign(target, right, scope)
    } else {
      const value = this.operand(this.withoutCalls(right, scope), scope, PRECEDENCE['*'])
      this.line(`${target} = ${target} ${operator[0]} ${value}`)
    }
  }

  writeIf({ test, consequent, alternate }, scope, result, word = 'if') {
    this.begin(`${word} ${this.hoisted(test, scope)} then`)
    this.body(blockOf(consequent), new Scope(this, scope), result)
    if (alternate) {
      this.middle('else')
      this.body(blockOf(alternate), new Scope(this, scope), result)
    }
    this.end('end')
  }

  writeWhile({ test, body }, scope) {
    this.begin(`while ${this.expression(test, scope)} do`)
    this.body(blockOf(body), new Scope(this, scope), {})
    this.end('end')
  }

  /** Writes the statements of calls in an expression, and returns the rest of it. */
  hoisted(node, scope) {
    return this.expression(this.withoutCalls(node, scope), scope)
  }

  withoutCalls(node, scope) {
    if (!node || typeof node !== 'object' || node.type === 'ArrowFunctionExpression') return node
    if (Array.isArray(node)) return node.map((one) => this.withoutCalls(one, scope))
    if (this.isInlined(node)) {
      const name = this.fresh('value')
      this.line(`local ${name}`)
      this.call(node, scope, { target: name })
      return { type: 'LuaName', name }
    }
    const entries = Object.entries(node).map(([key, value]) => [
      key,
      key === 'span' ? value : this.withoutCalls(value, scope),
    ])
    return Object.fromEntries(entries)
  }

  /** Writes the text of a called method. */
  call(node, scope, result) {
    const { params, body } = this.methodOf(node)
    const inner = new Scope(this)
    this.begin('do')
    for (const [index, { expression }] of node.arguments.entries()) {
      const param = params[index]
      if (param === POSITION || param === OUTPUTS) continue
      if (expression.type === 'Identifier' || expression.type === 'NumericLiteral') {
        inner.bind(param, this.expression(expression, scope))
        if (assigns(body, param)) throw new Error(`parameter ${param} is assigned`)
      } else {
        const name = this.fresh(param)
        inner.bind(param, name)
        this.declareLocal(name, expression, scope)
      }
    }
    this.body(body, inner, result)
    this.end('end')
  }
}
