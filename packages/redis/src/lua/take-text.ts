import { type AlgorithmText, algorithmTexts } from './algorithms/generated.ts'
import { nativeForm } from './generated.ts'
import { constantNames, type LuaAlgorithm } from './policy-args.ts'

/** A charge of a take: its algorithm, its place, and what its arguments are. */
interface ChargeText extends AlgorithmText {
  readonly name: LuaAlgorithm
  /** Place among the charges, from 1 on. */
  readonly place: number
  /** Index of the first argument of the policy. */
  readonly at: number
  /** Lua expressions of the cost and of whether the charge is advisory. */
  readonly cost: string
  readonly advisory: string
}

/**
 * Returns the Lua code of takes that differ only in their keys, over policies with different keys, without functions:
 * the policies and their order are known, so that cells and constants are local variables. Same result as `exact-batch`.
 *
 * KEYS: for each take, the cells of each charge; with `refuses`, each followed by its leases. ARGV: the argument of
 * `exact-head`; then for each charge the constants of its policy, its cost, and 1 if it is advisory, otherwise 0. A single
 * charge has only its cost, which may be missing if it is 1.
 *
 * `refuses`: Lua code of a condition under which a take of a single charge is refused, with a message.
 */
export function takeText(names: readonly LuaAlgorithm[], refuses?: { condition: string; message: string }): string {
  const charges = chargesOf(names)
  const keysPerTake = charges.length * (refuses ? 2 : 1)
  return `local out, messages, n = {}, {}, 0
${charges.map((charge) => argumentsText(charge, charges.length === 1)).join('\n')}
for first = 1, #KEYS, ${keysPerTake} do
n = n + 1
repeat
${refuses ? `if ${refuses.condition} then ${refusedText(`'${refuses.message}'`)} end` : ''}
${charges.length === 1 ? soleText(charges[0]) : manyText(charges)}
until true
end
local text = stamp .. ' ' .. table.concat(out, ' ')
if #messages > 0 then text = text .. '\\n' .. table.concat(messages, '\\n') end
return text`
}

/** Most policies of one text: Lua has at most 200 local variables, and each policy makes the text longer. */
export const MOST_TAKEN = 8

function soleText(charge: ChargeText): string {
  return `${valueText(charge)}
${cellsText(charge)}
local wait, left, reset, grows
${takenText(charge)}
${answerText('out[n]')}`
}

/** Measures all charges before any is taken. */
function manyText(charges: readonly ChargeText[]): string {
  const each = (text: (charge: ChargeText) => string): string => charges.map(text).join('\n')
  return `${each(valueText)}
${each(({ place, locals = 1 }) => `local wait${place}, out${place}, native${place}, ${kept(place, locals)}`)}
${each(measuredText)}
local allFit = ${charges.map(({ place }) => `wait${place} == 0`).join(' and ')}
local vetoed = ${charges.map(({ place }) => `wait${place} > 0 and not advisory${place}`).join(' or ')}
${each(decidedText)}
out[n] = ${charges.map(({ place }) => `out${place}`).join(" .. ' ' .. ")}`
}

function chargesOf(names: readonly LuaAlgorithm[]): readonly ChargeText[] {
  // the first argument is the deadline
  let at = 2
  return names.map((name, index) => {
    const first = at
    at += constantNames[name].length
    const isSole = names.length === 1
    const cost = isSole ? `tonumber(ARGV[${at}] or 1)` : `tonumber(ARGV[${at++}])`
    const advisory = isSole ? 'false' : `ARGV[${at++}] == '1'`
    return { ...algorithmTexts[textName(name)], name, place: index + 1, at: first, cost, advisory }
  })
}

/** Returns the name of the text of an algorithm: windows are counted the same, whatever their form in Redis. */
export function textName(name: LuaAlgorithm): Exclude<LuaAlgorithm, 'native-window'> {
  return name === 'native-window' ? 'fixed-window' : name
}

/** Declares the constants of a policy and the cost, with the place of the charge behind their names unless it is alone. */
function argumentsText(charge: ChargeText, isSole: boolean): string {
  const { name, place, at, cost, advisory } = charge
  const given = constantNames[name].map((_, index) => `tonumber(ARGV[${at + index}])`)
  if (isSole) return `local ${[...constantNames[name], 'cost']} = ${[...given, cost]}\n${derivedText(charge)}`
  return `local ${[...namesOf(charge), `advisory${place}`]} = ${[...given, cost, advisory]}`
}

function namesOf({ name, place }: ChargeText): readonly string[] {
  return [...constantNames[name], 'cost'].map((constant) => `${constant}${place}`)
}

function derivedText({ constants, derived, locals }: ChargeText): string {
  return locals === undefined ? constants : derived
}

function refusedText(message: string): string {
  return `messages[#messages + 1] = ${message} out[n] = '!' .. #messages break`
}

function valueText({ place }: ChargeText): string {
  return `local key${place} = KEYS[${place === 1 ? 'first' : `first + ${place - 1}`}]
local value${place} = redis.pcall('GET', key${place})
if type(value${place}) == 'table' then ${refusedText(`value${place}.err`)} end`
}

/** Names of the variables that keep the cells of a charge while the others are measured. */
function kept(place: number, locals: number): string {
  return Array.from({ length: locals }, (_, index) => `kept${place}_${index + 1}`).join(', ')
}

/** Names of the variables of the cells. */
function cellNames({ locals }: ChargeText): string {
  return locals === undefined ? 'c' : variablesOf(locals)
}

/** Sets the wait of a charge, and keeps its cells. */
function measuredText(charge: ChargeText): string {
  const { place, locals = 1, measure } = charge
  return `${ownHead(charge)}
${cellsText(charge)}
local wait
${measure}
wait${place}, ${kept(place, locals)} = wait, ${cellNames(charge)}
${isWindow(charge) ? `native${place} = native` : ''}
end`
}

/** Takes a charge, or only reads its numbers if the request is denied. */
function decidedText(charge: ChargeText): string {
  const { place, locals = 1, numbers } = charge
  return `${ownHead(charge)}
local ${cellNames(charge)} = ${kept(place, locals)}
${isWindow(charge) ? `local native = native${place}` : ''}
local wait, left, reset, grows
if not vetoed and (allFit or not advisory${place}) then
${takenText(charge)}
else
wait = wait${place}
${numbers}
end
${answerText(`out${place}`)}
end`
}

/** Begins a block in which the constants of a charge have their own names. */
function ownHead(charge: ChargeText): string {
  return `do
local ${[...constantNames[charge.name], 'cost']} = ${namesOf(charge)}
${derivedText(charge)}`
}

/**
 * Returns Lua code that sets a variable to the numbers of a verdict. The difference of two current times is a multiple of
 * the 4,096th part of a millisecond, and formatting that as an integer takes a third of the time. Lua formats numbers from
 * 2^63 on as other integers.
 */
function answerText(out: string): string {
  return `if wait >= 2^53 then wait = -1 end
if grows >= 2^53 then grows = -1 end
local ticks = reset * 4096
${out} = ticks % 1 == 0 and ticks < 2^53 and format('%d %d /%d %d', left, wait, ticks, grows)
  or format('%d %d %.17g %d', left, wait, reset, grows)`
}

function takenText(charge: ChargeText): string {
  const { name, place, take, kept: before } = charge
  return `${before === undefined || drains(name) ? '' : `local kept\nif value${place} then ${before} end`}
${take}
if wait == 0 and cost > 0 then
${storeText(charge)}
end`
}

/** Declares the cells of a charge, read from its value. */
function cellsText(charge: ChargeText): string {
  const { name, place, locals } = charge
  const value = `value${place}`
  const refusal = refusedText('WRONGTYPE')
  if (name === 'sliding-log') {
    return `local c = { 0 }
if ${value} then
  local count = #${value} / 8
  if count ~= floor(count) then ${refusal} end
  c = { count, struct.unpack('<' .. string.rep('d', count), ${value}) }
end`
  }
  if (locals === undefined) {
    return `local c = {}
if ${value} then
  if #${value} ~= 8 * cells then ${refusal} end
  c = { struct.unpack(layout, ${value}) }
else
  for i = 1, cells do c[i] = 0 end
end`
  }
  const variables = variablesOf(locals)
  const other = isWindow(charge)
    ? `${nativeForm}\n${variables} = readNative(key${place}, ${value}, windowMs)\nnative = true`
    : refusal
  return `local ${variables} = ${variables.replaceAll(/c\d+/g, '0')}
${isWindow(charge) ? `local native = ${name === 'native-window'}` : ''}
if ${value} then
  if #${value} == ${8 * locals} then
    ${variables} = struct.unpack('<${'d'.repeat(locals)}', ${value})
  else
    ${other}
  end
  if not c1 then ${refusal} end
end`
}

/**
 * Stores the cells. A key whose expiry is late enough keeps it, since a new one costs a quarter of a take. As long as a
 * window has the same end, its key has an expiry for this end. Ends that move with each take have some time to spare, and
 * the key is asked for its expiry: the end of drained units depends on the limit of the take, and clocks may be set back.
 */
function storeText(charge: ChargeText): string {
  const { name, place, kept: before } = charge
  const value = `'SET', key${place}, ${packedText(charge)}`
  const timed = (livesMs: string): string => `call(${value}, 'PX', max(1, min(ceil(${livesMs}) + longer, 2^52)))`
  const keptIf = (isLate: string, livesMs: string): string =>
    `if ${isLate} then call(${value}, 'KEEPTTL')\nelse ${timed(livesMs)} end`
  const isLate = `value${place} and call('PTTL', key${place}) >= reset + longer`
  if (drains(name)) return keptIf(isLate, SPARE)
  if (!isWindow(charge)) return before === undefined ? timed('reset') : keptIf(`kept == reset or ${isLate}`, SPARE)
  // a function is created when it is needed, because that takes longer than most calls
  return `if native then\n${nativeForm}\nstoreNative(key${place}, c1, c2, windowMs)
else ${keptIf('kept == reset', 'reset')} end`
}

const SPARE = 'reset * 1.125'

function drains(name: LuaAlgorithm): boolean {
  return name === 'token-bucket' || name === 'gcra'
}

function packedText({ name, locals }: ChargeText): string {
  if (locals !== undefined) return `struct.pack('<${'d'.repeat(locals)}', ${variablesOf(locals)})`
  if (name === 'sliding-log') return "struct.pack('<' .. string.rep('d', c[1]), unpack(c, 2, c[1] + 1))"
  return 'struct.pack(layout, unpack(c, 1, cells))'
}

function isWindow({ name }: ChargeText): boolean {
  return textName(name) === 'fixed-window'
}

function variablesOf(locals: number): string {
  return Array.from({ length: locals }, (_, index) => `c${index + 1}`).join(', ')
}
