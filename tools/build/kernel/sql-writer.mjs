// Translates methods of an algorithm to blocks of PL/pgSQL. `p` has the numbers of the policy, and `c` the cells of the key.
import { countedLoop } from './counted-loop.mjs'
import { atom, mathName, PRECEDENCE } from './expressions.mjs'
import { SEARCH } from './first-whole-ms.mjs'
import { Scope } from './scope.mjs'
import { SqlConstants } from './sql-constants.mjs'
import { Statements } from './statements.mjs'

/** Key words of SQL and PL/pgSQL, and names of the functions around the blocks, that are names in TypeScript. */
const RESERVED = new Set([
  ...['end', 'from', 'to', 'left', 'right', 'inner', 'outer', 'time', 'limit', 'all', 'both', 'case', 'else', 'loop'],
  ...['then', 'when', 'exit', 'until', 'order', 'user', 'p', 'c', 'name', 'cells'],
])
const FUNCTIONS = { min: 'least', max: 'greatest' }
/** Functions of policies, for calls of the policy inside of a facet. */
const INNER = { waitMs: 'wait', resetAfterMs: 'reset_after', keptMs: 'kept' }

/**
 * `options.cells`: `locals` if cells are variables such as `c1`, `array` if they are elements of `c`, or `log` if `c` has
 * only timestamps, whose number is the variable `count`. `options.primitives`: methods whose statements are given.
 */
export class SqlWriter extends SqlConstants(Statements) {
  globals = ['p', 'c', 'now', 'cost', 'count']
  operators = { '===': '=', '!==': '<>', '&&': 'and', '||': 'or' }
  infinity = "'Infinity'::float8"
  words = { endIf: 'end if;', loop: 'loop', endLoop: 'end loop;' }
  /** Types of the variables of the current text. */
  variables = new Map()
  /** Integer variables, which need no cast in an index. */
  integers = new Set()

  nameOf(name) {
    const plain = name.replace(/^_/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return RESERVED.has(plain) ? `${plain}_value` : plain
  }

  start(names) {
    const places = [...this.read.arrays].flatMap((array) => this.placesOf(array))
    this.used = new Set([
      ...this.globals,
      ...this.constants().map(([name]) => name),
      ...places,
      ...names.filter(Boolean),
    ])
    this.variables = new Map(places.map((place) => [place, 'float8']))
    this.integers = new Set()
  }

  binary(node, scope) {
    const { operator, right } = node
    const value = this.valueOf(node)
    if (value !== undefined) return atom(String(value))
    // a sum that becomes infinite is an error
    if (operator === '<' && right.object?.value === 'Number')
      return { text: `${this.operand(node.left, scope, PRECEDENCE.sum)} < 1e300`, precedence: PRECEDENCE.compare }
    return super.binary(node, scope)
  }

  conditional({ test, consequent, alternate }, scope) {
    const [condition, value, other] = [test, consequent, alternate].map((node) => this.expression(node, scope))
    // outside of parentheses, `then` would end the condition of an `if`
    return atom(`(case when ${condition} then ${value} else ${other} end)`)
  }

  cell(index, scope) {
    const isLog = this.options.cells === 'log'
    const place = this.index(index, scope, isLog ? 0 : 1)
    if (isLog && place === '0') return 'count'
    if (this.options.cells === 'locals') return `c${place}`
    const isInteger = (place.match(/[a-z]\w*/g) ?? []).every((name) => this.integers.has(name))
    return isInteger ? `c[${place}]` : `c[(${place})::int]`
  }

  functionName(callee) {
    const name = mathName(callee)
    return FUNCTIONS[name] ?? name
  }

  innerCall(node, scope) {
    const { value } = node.callee.property
    const args = ['inner_p', 'inner_c', ...this.innerArguments(node, scope)]
    return `$schema.limit1_${INNER[value] ?? value}(${args.join(', ')})`
  }

  innerStatement(node, scope) {
    const { value } = node.callee.property
    const args = ['p[6 :]', 'c[11 :]', ...this.innerArguments(node, scope)]
    this.line(`c := c[1 : 10] || $schema.limit1_${value}(${args.join(', ')});`)
  }

  innerArguments(node, scope) {
    const args = node.arguments
      .map(({ expression }) => expression)
      .filter(({ value }) => !['cells', 'at'].includes(value))
    return args.map((expression) => this.expression(this.withoutCalls(expression, scope), scope))
  }

  writeResult(value) {
    this.line(`return ${this.result(value)};`)
  }

  /** A variable with the value of a field is another name of it. */
  declare(node, scope) {
    const { id, init } = node
    const isField = init?.type === 'MemberExpression' && init.object.type === 'ThisExpression'
    if (isField && this.read.fields.has(init.property.value)) scope.bind(id.value, this.nameOf(init.property.value))
    else super.declare(node, scope)
  }

  writeDeclaration(name, value, isBoolean) {
    this.variables.set(name, isBoolean ? 'boolean' : 'float8')
    if (value !== undefined) this.writeAssignment(name, value)
  }

  writeAssignment(target, value) {
    this.line(`${target} := ${value};`)
  }

  writeWhile(node, scope) {
    const counted = countedLoop(node, this.following)
    if (counted && !counted.others.some((other) => this.needsStatements(other))) this.writeFor(counted, scope)
    else if (this.needsStatements(node.test)) {
      const goes = this.fresh('goes')
      this.writeDeclaration(goes, undefined, true)
      this.begin('loop')
      this.assign(goes, node.test, scope)
      this.line(`exit when not ${goes};`)
      this.writeStatement(node.body, new Scope(this, scope), {})
      this.end('end loop;')
    } else super.writeWhile(node, scope)
  }

  writeFor({ counter, isUp, bound, offset, others, body }, scope) {
    const name = scope.get(counter)
    const start = this.takeLiteral(name)
    const fixed = this.valueOf(bound)
    const end =
      fixed === undefined
        ? `${this.operand(bound, scope, PRECEDENCE.sum)}${offset === 0 ? '' : ' - 1'}`
        : fixed + offset
    const inner = new Scope(this, scope)
    const own = this.fresh(counter)
    this.integers.add(own)
    inner.bind(counter, own)
    // infinity is not an integer
    const first = start ?? (isUp ? `${name}::int` : `greatest(${name}, ${end - 1})::int`)
    const last = fixed === undefined ? `greatest(${end}, ${start === undefined ? `${name} - 1` : start - 1})::int` : end
    this.begin(`for ${own} in ${isUp ? '' : 'reverse '}${first} .. ${last} loop`)
    if (others.length > 0) {
      const goes = others.map((other) => this.operand(other, inner, PRECEDENCE.and)).join(' and ')
      this.line(`exit when not (${goes});`)
    }
    this.body(body, inner, {})
    this.end('end loop;')
  }

  /** Removes the assignment of an integer that a variable still has, and returns the integer; otherwise undefined. */
  takeLiteral(name) {
    const index = this.lines.findLastIndex((line) => new RegExp(`\\b${name}\\b`).test(line))
    const [, value] = /^ *\w+ := (\d+);$/.exec(this.lines[index] ?? '') ?? []
    if (value === undefined || !this.lines[index].startsWith(`${this.indent}${name} :=`)) return undefined
    this.lines.splice(index, 1)
    return Number(value)
  }

  /** Returns the value of a constant, or of a difference of constants; otherwise undefined. */
  valueOf(node) {
    if (node.type !== 'BinaryExpression' || node.operator !== '-') return this.constantOf(node)
    const [one, other] = [this.constantOf(node.left), this.constantOf(node.right)]
    return one === undefined || other === undefined ? undefined : one - other
  }

  call(node, scope, result) {
    if (this.calledName(node) === SEARCH) {
      const args = [...this.options.searchArguments, ...this.innerArguments(node, scope)]
      this.writeAssignment(result.target, `$schema.limit1_${this.options.search}(${args.join(', ')})`)
      return
    }
    const primitive = this.options.primitives?.[this.calledName(node)]
    if (!primitive) {
      super.call(node, scope, result)
      return
    }
    const { params } = this.methodOf(node)
    const args = new Map()
    for (const [index, { expression }] of node.arguments.entries()) {
      const value = this.withoutCalls(expression, scope)
      if (!['cells', 'at'].includes(params[index]))
        args.set(params[index], this.operand(value, scope, PRECEDENCE.unary))
    }
    for (const line of primitive(Object.fromEntries(args))) this.line(line)
  }

  beginCall() {}

  endCall() {}
}
