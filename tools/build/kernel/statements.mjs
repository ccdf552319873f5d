// Translates methods of an algorithm: numbers, `cells[at + index]`, fields and arrays of the class, local variables,
// `if`, `while`, and calls. Calls of methods are inlined, because a call costs as much as ten operations in Lua and
// twenty in PL/pgSQL. Subclasses write the statements of a language.

import { Expressions, OUTPUTS, POSITION, PRECEDENCE } from './expressions.mjs'
import { assigns, blockOf, isBoolean, isField, isLogical, mayReturn, Scope, unwrapped } from './scope.mjs'

export class Statements extends Expressions {
  /** The statements of the same block after the current one. */
  following = []

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

  /** Writes the statements of a method. Returns whether every path has returned. */
  methodText(name, params, result) {
    const { params: own, body } = this.read.methods.get(name)
    const scope = new Scope(this)
    const bound = own.filter((param) => param !== POSITION && param !== OUTPUTS)
    for (const [index, param] of bound.entries()) scope.bind(param, params[index])
    return this.body(body, scope, result)
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
      this.following = statements.slice(index + 1)
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
    this.end(this.words.endIf)
  }

  writeReturn({ argument }, scope, result) {
    if (!argument) {
      if (result.returns) this.writeResult(undefined)
      return
    }
    const plain = unwrapped(argument)
    if (plain.type === 'ConditionalExpression' && this.needsStatements(plain)) {
      const branch = (argument) => ({ type: 'ReturnStatement', argument })
      const { test, consequent, alternate } = plain
      this.writeIf({ test, consequent: branch(consequent), alternate: branch(alternate) }, scope, result)
    } else if (result.returns) this.writeResult(this.hoisted(argument, scope))
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
    else this.writeDeclaration(name)
  }

  declareLocal(name, value, scope) {
    if (this.needsStatements(value)) {
      this.writeDeclaration(name, undefined, this.isBoolean(value))
      this.assign(name, value, scope)
    } else this.writeDeclaration(name, this.expression(value, scope), this.isBoolean(value))
  }

  /** Whether the value of an expression is a boolean. */
  isBoolean(node) {
    const plain = unwrapped(node)
    return isBoolean(plain) || this.methodOf(plain)?.returnsBoolean === true
  }

  /** Assigns an expression, whose calls become statements in front of it. */
  assign(target, node, scope) {
    const plain = unwrapped(node)
    if (plain.type === 'ConditionalExpression' && this.needsStatements(plain)) {
      this.begin(`if ${this.hoisted(plain.test, scope)} then`)
      this.assign(target, plain.consequent, scope)
      this.middle('else')
      this.assign(target, plain.alternate, scope)
      this.end(this.words.endIf)
    } else if (isLogical(plain) && this.needsStatements(plain.right)) {
      // as in TypeScript, the right side is evaluated only if the left side does not decide
      this.assign(target, plain.left, scope)
      this.begin(`if ${plain.operator === '&&' ? '' : 'not '}${target} then`)
      this.assign(target, plain.right, scope)
      this.end(this.words.endIf)
    } else if (this.isInlined(plain)) this.call(plain, scope, { target })
    else this.writeAssignment(target, this.hoisted(plain, scope))
  }

  expressionStatement(node, scope, result) {
    if (node.type === 'UpdateExpression') {
      const target = this.expression(node.argument, scope)
      this.writeAssignment(target, `${target} ${node.operator[0]} 1`)
    } else if (node.type === 'AssignmentExpression') this.assignment(node, scope, result)
    else if (this.isInlined(node)) this.call(node, scope, { outputs: result.outputs })
    else if (this.methodOf(node)) this.line(this.hoisted(node, scope))
    else if (this.isInner(node)) this.innerStatement(node, scope, result)
    else throw new Error(`not translated: ${node.type} as a statement`)
  }

  assignment({ left, operator, right }, scope, { outputs }) {
    const isOutput = outputs && left.object?.value === OUTPUTS
    const target = isOutput ? outputs[this.constantOf(left.property.expression)] : this.expression(left, scope)
    if (!target) return
    if (operator === '=') this.assignTo(target, right, scope)
    else {
      const value = this.operand(this.withoutCalls(right, scope), scope, PRECEDENCE.product)
      this.writeAssignment(target, `${target} ${operator[0]} ${value}`)
    }
  }

  /** Writes an assignment to a variable or a cell. */
  assignTo(target, right, scope) {
    this.assign(target, right, scope)
  }

  writeIf({ test, consequent, alternate }, scope, result, word = 'if') {
    this.begin(`${word} ${this.hoisted(test, scope)} then`)
    this.body(blockOf(consequent), new Scope(this, scope), result)
    if (alternate) {
      this.middle('else')
      this.body(blockOf(alternate), new Scope(this, scope), result)
    }
    this.end(this.words.endIf)
  }

  writeWhile({ test, body }, scope) {
    this.begin(`while ${this.expression(test, scope)} ${this.words.loop}`)
    this.body(blockOf(body), new Scope(this, scope), {})
    this.end(this.words.endLoop)
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
      this.writeDeclaration(name, undefined, this.isBoolean(node))
      this.call(node, scope, { target: name })
      return { type: 'WrittenName', name }
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
    this.beginCall()
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
    this.endCall()
  }
}
