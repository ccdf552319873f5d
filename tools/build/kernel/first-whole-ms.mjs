// Makes a method of each search for the first millisecond, which is needed only after rounding errors.

/** Name of the methods that search. */
export const SEARCH = 'search'

/**
 * Replaces `return firstWholeMs(guess, (ms) => ...)` in all methods by a call of a method `search` with the given
 * parameters. Its body is `before`, then the statements of `firstWholeMs` with the condition in place of its argument.
 */
export function searchInMethod(methods, { body: statements }, params, before = []) {
  for (const [name, method] of methods) {
    const last = method.body.at(-1)
    const call = last?.type === 'ReturnStatement' ? last.argument : undefined
    if (call?.type !== 'CallExpression' || call.callee.value !== 'firstWholeMs') continue
    const [, { expression: condition }] = call.arguments
    const [{ value: param }] = condition.params
    const isParam = ({ type, value }) => type === 'Identifier' && value === param
    const body = replaced(statements, isPassesCall, (node) => ({
      type: 'ParenthesisExpression',
      expression: replaced(condition.body, isParam, () => node.arguments[0].expression),
    }))
    methods.set(SEARCH, { params, body: [...before, ...body] })
    methods.set(name, { ...method, body: [...method.body.slice(0, -1), returned(callOf(SEARCH, params))] })
  }
}

/** Returns the call of a method with variables that have the names of its parameters. */
export function callOf(name, params) {
  return {
    type: 'CallExpression',
    callee: {
      type: 'MemberExpression',
      object: { type: 'ThisExpression' },
      property: { type: 'Identifier', value: name },
    },
    arguments: params.map((value) => ({ expression: { type: 'Identifier', value } })),
  }
}

function returned(argument) {
  return { type: 'ReturnStatement', argument }
}

function isPassesCall({ type, callee }) {
  return type === 'CallExpression' && callee.value === 'passes'
}

/** Returns a copy of a tree in which `replace` has replaced the nodes that `matches` accepts. */
function replaced(node, matches, replace) {
  if (!node || typeof node !== 'object') return node
  if (Array.isArray(node)) return node.map((one) => replaced(one, matches, replace))
  if (matches(node)) return replace(node)
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, replaced(value, matches, replace)]))
}
