// Finds loops that count: `for` of PL/pgSQL needs half of the time that `while` needs.
import { assigns, blockOf, unwrapped } from './scope.mjs'

const UP = { '<': -1, '<=': 0 }
const DOWN = { '>': 1, '>=': 0 }

/**
 * Returns `{ counter, isUp, bound, offset, others, body }` of a `while` whose last statement counts, and whose counter is
 * not read after it; otherwise undefined. The last value of the counter is `bound` plus `offset`. `others`: further
 * conditions.
 */
export function countedLoop({ test, body }, following) {
  const statements = blockOf(body)
  const last = statements.at(-1)
  const update = last?.type === 'ExpressionStatement' ? last.expression : undefined
  if (update?.type !== 'UpdateExpression' || update.argument.type !== 'Identifier') return undefined
  const counter = update.argument.value
  const rest = statements.slice(0, -1)
  if (assigns(rest, counter) || isReadNext(following, counter)) return undefined
  const offsets = update.operator === '++' ? UP : DOWN
  const conditions = conjuncts(test)
  const compares = ({ type, operator, left }) =>
    type === 'BinaryExpression' && operator in offsets && left.type === 'Identifier' && left.value === counter
  const limit = conditions.find(compares)
  if (!limit || !isFixed(limit.right, rest)) return undefined
  return {
    counter,
    isUp: offsets === UP,
    bound: limit.right,
    offset: offsets[limit.operator],
    others: conditions.filter((condition) => condition !== limit),
    body: rest,
  }
}

function conjuncts(node) {
  const plain = unwrapped(node)
  if (plain.type !== 'BinaryExpression' || plain.operator !== '&&') return [plain]
  return [...conjuncts(plain.left), ...conjuncts(plain.right)]
}

/** Whether statements read a variable before they assign it. */
function isReadNext(statements, name) {
  const next = statements.find((statement) => mentions(statement, name))
  const { expression } = next ?? {}
  const isReplaced =
    expression?.type === 'AssignmentExpression' && expression.left.value === name && !mentions(expression.right, name)
  return next !== undefined && !(isReplaced && expression.operator === '=')
}

/** Whether an expression has no cells, and no variables that statements assign. */
function isFixed(node, statements) {
  if (!node || typeof node !== 'object') return true
  if (node.type === 'Identifier' && (node.value === 'cells' || assigns(statements, node.value))) return false
  return Object.values(node).every((value) => isFixed(value, statements))
}

function mentions(node, name) {
  if (!node || typeof node !== 'object') return false
  if (node.type === 'Identifier' && node.value === name) return true
  return Object.values(node).some((value) => mentions(value, name))
}
