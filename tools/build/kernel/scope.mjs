/** The names of variables in the generated code, and the arguments that stand for parameters of a method. */
export class Scope {
  #writer
  #outer
  #names = new Map()
  #nodes = new Map()
  #arrays = new Map()

  constructor(writer, outer) {
    this.#writer = writer
    this.#outer = outer
  }

  /** Returns a new name of a variable in the generated code. */
  declare(name) {
    const own = this.#writer.fresh(name)
    this.#names.set(name, own)
    return own
  }

  bind(name, text) {
    this.#names.set(name, text)
  }

  /** Lets an expression of another scope stand for a parameter. */
  bindNode(name, node, scope) {
    this.#nodes.set(name, { node, scope })
  }

  /** Makes a variable another name of an array of the class. */
  alias(name, array) {
    this.#arrays.set(name, array)
  }

  arrayOf(name) {
    return this.#arrays.get(name) ?? this.#outer?.arrayOf(name)
  }

  find(name) {
    const bound = this.#nodes.get(name)
    if (bound) return this.#writer.argument(bound)
    return this.#names.get(name) ?? this.#outer?.find(name)
  }

  get(name) {
    const found = this.find(name)
    if (found === undefined) throw new Error(`not translated: the variable ${name}`)
    return found
  }
}

/** The name of an element of an array, such as `previousUnits` for `PREVIOUS_UNITS`. */
export function placeName(constant) {
  return constant.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
}

/** Whether a node is a field of the class with this name. */
export function isField(node, name) {
  return node?.type === 'MemberExpression' && node.object.type === 'ThisExpression' && node.property.value === name
}

/** Returns the expression of a method that has no other statement. */
export function expressionOf({ body }) {
  return body.length === 1 && body[0].type === 'ReturnStatement' ? body[0].argument : undefined
}

export function blockOf(node) {
  return node.type === 'BlockStatement' ? node.stmts : [node]
}

/** Whether a statement contains a `return`. */
export function mayReturn(node) {
  if (!node || typeof node !== 'object' || node.type === 'ArrowFunctionExpression') return false
  return node.type === 'ReturnStatement' || Object.values(node).some(mayReturn)
}

/** Whether statements assign a variable. */
export function assigns(node, name) {
  if (!node || typeof node !== 'object') return false
  const changed = node.type === 'AssignmentExpression' ? node.left : node.type === 'UpdateExpression' && node.argument
  if (changed?.type === 'Identifier' && changed.value === name) return true
  return Object.values(node).some((value) => assigns(value, name))
}

export function unwrapped(node) {
  return node.type === 'ParenthesisExpression' ? unwrapped(node.expression) : node
}

/** Returns the terms of a sum. */
export function termsOf(node) {
  if (node.type === 'BinaryExpression' && node.operator === '+') return [...termsOf(node.left), ...termsOf(node.right)]
  return [node]
}

export function isLogical({ operator }) {
  return operator === '&&' || operator === '||'
}

const BOOLEAN = new Set(['===', '!==', '<', '>', '<=', '>=', '&&', '||'])

export function isBoolean(node) {
  const plain = unwrapped(node)
  return (plain.type === 'BinaryExpression' && BOOLEAN.has(plain.operator)) || plain.operator === '!'
}
