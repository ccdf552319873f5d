import { type CallMessage, MARK, OPERATIONS, type SentCharge } from '../calls/call-message.ts'

/** Storage keys of Durable Objects have at most 2,048 bytes. The name of an idempotency id contains both texts. */
const NAME = /^[ -~]{1,600}$/
const ID = /^[!-~]{0,400}$/
const OPERATION_COUNT = Object.keys(OPERATIONS).length
/** Numbers of `SentUsage`. */
const USAGE_NUMBERS = 7

/**
 * Returns a received message if it has the format of a call. Throws a `TypeError` otherwise, because a call of another
 * release or another caller could write counts that are not numbers.
 */
export function checkedCall(message: unknown): CallMessage {
  const call = message as CallMessage | null
  if (call?.mark !== MARK) throw new TypeError(`mark: expected ${MARK}, received another release or another caller`)
  const { deadline, given, durable, policies, names, requests } = call
  check('deadline', isNumber(deadline) || deadline === null)
  check('given', isNumber(given) || given === null)
  check('durable', typeof durable === 'boolean')
  check('policies', isListOf(policies, isText))
  check('names', isListOf(names, isName))
  check(
    'requests',
    isListOf(requests, (request) => isRequest(request, call)),
  )
  return call
}

function check(part: string, isValid: boolean): void {
  if (!isValid) throw new TypeError(`${part}: expected the format of ${MARK}, received another one`)
}

function isRequest(request: unknown, call: CallMessage): boolean {
  if (!(Array.isArray(request) && request.length === 4)) return false
  const [operation, takenAt, id, charges] = request
  const isAdjustment = operation === OPERATIONS.adjust
  return (
    isIndex(operation, OPERATION_COUNT) &&
    isNumber(takenAt) &&
    typeof id === 'string' &&
    ID.test(id) &&
    isListOf(charges, (charge) => isCharge(charge, call, isAdjustment))
  )
}

function isCharge(charge: unknown, { names, policies }: CallMessage, isAdjustment: boolean): charge is SentCharge {
  if (!(Array.isArray(charge) && (charge.length === 4 || charge.length === 5))) return false
  const [name, policy, cost, advisory, known] = charge
  return (
    isIndex(name, names.length) &&
    isIndex(policy, policies.length) &&
    isUnits(cost) &&
    (cost >= 0 || isAdjustment) &&
    (advisory === 0 || advisory === 1) &&
    (charge.length === 4 || isUsage(known))
  )
}

function isUsage(known: unknown): boolean {
  if (!(Array.isArray(known) && known.length === USAGE_NUMBERS)) return false
  const [used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt] = known
  return [used, uncounted, unsure, upTo].every(isUnits) && [resetAfterMs ?? 0, usedAt ?? 0, admittedAt].every(isNumber)
}

function isListOf(list: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isItem)
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && NAME.test(value)
}

function isIndex(value: unknown, length: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < length
}

/** Whether a value is a number whose sum with other units is exact. */
function isUnits(value: unknown): value is number {
  return isNumber(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}
