import { type AlgorithmText, algorithmTexts } from './algorithms/generated.ts'
import { nativeForm } from './generated.ts'
import { constantNames, type LuaAlgorithm } from './policy-args.ts'

/** A charge of a take: its algorithm, its place, and what its arguments are. */
interface ChargeText extends AlgorithmText {
  readonly name: LuaAlgorithm
  /** Place among the charges, from 1 on. */
  readonly place: number
  /** Declares the constants of the policy. */
  readonly given: string
  /** Lua expressions of the cost and of whether the charge is advisory. */
  readonly cost: string
  readonly advisory: string
}

/**
 * Returns the Lua code of one take over policies with different keys, without functions: its policies and their order
 * are known, so that cells and constants are local variables. Same result as `exact-batch`.
 *
 * KEYS: the cells of each charge. ARGV: the argument of `exact-head`; then for each charge the constants of its policy,
 * its cost, and 1 if it is advisory, otherwise 0. A single charge has only its cost, which may be missing if it is 1.
 */
export function takeText(names: readonly LuaAlgorithm[]): string {
  const charges = chargesOf(names)
  const [first] = charges
  if (charges.length === 1) {
    return [valueText(first), headText(first), takenText(first), `return stamp .. ' ' .. ${answerText}`].join('\n')
  }
  const each = (text: (charge: ChargeText) => string): string => charges.map(text).join('\n')
  return [
    each(valueText),
    each(({ place }) => `local wait${place}, out${place}`),
    each((charge) => blockText(charge, `${charge.measure}\nwait${charge.place} = wait`)),
    `local allFit = ${charges.map(({ place }) => `wait${place} == 0`).join(' and ')}`,
    `local vetoed = ${charges.map(({ place, advisory }) => `wait${place} > 0 and not ${advisory}`).join(' or ')}`,
    each((charge) => blockText(charge, decidedText(charge))),
    `return stamp .. ' ' .. ${charges.map(({ place }) => `out${place}`).join(" .. ' ' .. ")}`,
  ].join('\n')
}

/** Most policies of one text: Lua has at most 200 local variables, and each policy makes the text longer. */
export const MOST_TAKEN = 8

function chargesOf(names: readonly LuaAlgorithm[]): readonly ChargeText[] {
  // the first argument is the deadline
  let at = 2
  return names.map((name, index) => {
    const given = constantNames[name].map((constant) => `local ${constant} = tonumber(ARGV[${at++}])`).join('\n')
    const isSole = names.length === 1
    const cost = isSole ? `tonumber(ARGV[${at}] or 1)` : `tonumber(ARGV[${at++}])`
    const advisory = isSole ? 'false' : `(ARGV[${at++}] == '1')`
    return { ...algorithmTexts[textName(name)], name, place: index + 1, given, cost, advisory }
  })
}

/** Returns the name of the text of an algorithm: windows are counted the same, whatever their form in Redis. */
export function textName(name: LuaAlgorithm): Exclude<LuaAlgorithm, 'native-window'> {
  return name === 'native-window' ? 'fixed-window' : name
}

function valueText({ place }: ChargeText): string {
  return `local value${place} = redis.pcall('GET', KEYS[${place}])
if type(value${place}) == 'table' then return stamp .. ' !1\\n' .. value${place}.err end`
}

/** The text of a charge in a block of its own, whose variables have the same names as those of other charges. */
function blockText(charge: ChargeText, text: string): string {
  return `do\n${headText(charge)}\n${text}\nend`
}

/** Declares the constants and the cells of a charge, and the numbers of its verdict. */
function headText(charge: ChargeText): string {
  const { given, cost, constants, derived, locals } = charge
  const own = locals === undefined ? constants : derived
  return [given, `local cost = ${cost}`, own, cellsText(charge), 'local wait, left, reset, grows'].join('\n')
}

/** Takes the charge, or only reads its numbers if the request is denied. */
function decidedText(charge: ChargeText): string {
  const { place, advisory, numbers } = charge
  return `if not vetoed and (allFit or not ${advisory}) then
${takenText(charge)}
else
wait = wait${place}
${numbers}
end
out${place} = ${answerText}`
}

const answerText = `format('%d %d %.17g %d', left, wait < 2^53 and wait or -1, reset, grows < 2^53 and grows or -1)`

function takenText(charge: ChargeText): string {
  return `${charge.take}\nif wait == 0 and cost > 0 then\n${storeText(charge)}\nend`
}

/** Declares the cells of a charge, read from its value. */
function cellsText(charge: ChargeText): string {
  const { name, place, locals } = charge
  const value = `value${place}`
  const refusal = `return stamp .. ' !1\\n' .. WRONGTYPE`
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
    ? `${nativeForm}\n${variables} = readNative(KEYS[${place}], ${value}, windowMs)\nnative = true`
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

function storeText(charge: ChargeText): string {
  const { place } = charge
  const set = `call('SET', KEYS[${place}], ${packedText(charge)}, 'PX', max(1, min(ceil(reset) + longer, 2^52)))`
  if (!isWindow(charge)) return set
  // a function is created when it is needed, because that takes longer than most calls
  return `if native then\n${nativeForm}\nstoreNative(KEYS[${place}], c1, c2, windowMs)\nelse ${set} end`
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
