import type { FunctionNames } from './function-names.ts'
import { type AlgorithmBlocks, algorithmBlocks, holdingBlocks, searchUntil } from './generated.ts'
import { KINDS, type SqlAlgorithm } from './kinds.ts'

/** Statements for policies that are made of other policies. */
interface Others {
  readonly variants: string
  readonly holding: string
}

const DEFAULT_KIND = KINDS['two-epoch-window']
const PLAIN = 'p float8[], c float8[], now float8'
/** The policy inside of a policy with holds, and its cells. */
const INNER = 'p[6 :], c[11 :]'

/**
 * Functions that read and change the cells `c` of a policy `p`. A function contains the blocks of all algorithms: a call
 * of another function would take as long as the branches. The numbers of a policy are described at `policyNumbers`.
 */
export function algorithmFunctions({ schema }: FunctionNames): string {
  const variants = (name: string, args: string) => `return ${schema}.limit1_${name}(p, c, now${args});`
  const functions = [
    [
      'wait',
      `${PLAIN}, cost float8`,
      'float8',
      byKind(({ wait }) => wait, {
        variants: variants('wait_of_variants', ', cost'),
        holding: holdingBlocks.wait,
      }),
    ],
    [
      'remaining',
      PLAIN,
      'float8',
      byKind(({ remaining }) => remaining, {
        variants: variants('remaining_of_variants', ''),
        holding: holdingBlocks.remaining,
      }),
    ],
    [
      'reset_after',
      PLAIN,
      'float8',
      byKind(({ resetAfter }) => resetAfter, {
        variants: variants('reset_of_variants', ', false'),
        holding: holdingBlocks.resetAfter,
      }),
    ],
    ['kept', PLAIN, 'float8', keptOf(schema)],
    ['verdict', `${PLAIN}, cost float8, wait_ms float8`, 'text', verdictOf(schema)],
    [
      'spend',
      `${PLAIN}, cost float8`,
      'float8[]',
      byKind(({ spend }) => spend, {
        variants: `if cost = 0 then return c; end if;\n${variants('spend_in_variants', ', cost')}`,
        holding: `return c[1 : 10] || ${schema}.limit1_spend(${INNER}, now, cost);`,
      }),
    ],
    [
      'adjust',
      `${PLAIN}, units float8, taken_at float8`,
      'float8[]',
      byKind(({ adjust }) => adjust, {
        variants: variants('adjust_variants', ', units, taken_at'),
        holding: `declare
  rest float8[] := ${schema}.limit1_adjust(${INNER}, now, units, taken_at);
begin
  return rest[1 : 2] || c[1 : 10] || rest[3 :];
end;`,
      }),
    ],
    [
      'adopt',
      `${PLAIN}, known float8, reset_ms float8`,
      'float8[]',
      byKind(({ adopt }) => adopt, {
        variants: variants('adopt_in_variants', ', known, reset_ms'),
        holding: holdingBlocks.adopt,
      }),
    ],
    ['search_until', 'instant float8, now float8, guess float8', 'float8', searchUntil],
    ...searches(),
  ] as const
  return functions
    .map(([name, params, returned, block]) => createFunction(`${schema}.limit1_${name}(${params})`, returned, block))
    .join('\n')
    .replaceAll('$schema', schema)
}

/** Returns the statement that creates a function without side effects. */
export function createFunction(head: string, returned: string, block: string): string {
  const body = block.startsWith('declare') ? block : `begin\n${block}\nend;`
  return `create or replace function ${head}\nreturns ${returned} language plpgsql immutable as $$\n${body}\n$$;`
}

/** SQL of the cells of a key that is not used. */
export const UNUSED = 'array_fill(0::float8, array[p[3]::int])'

/** SQL of the condition that cells `c` have the expected number. */
export function isUsable(c: string): string {
  return `cardinality(${c}) between p[3] and p[4]`
}

/** Statements for a policy of any kind. The default algorithm needs one comparison, and the others need up to four. */
function byKind(blockOf: (blocks: AlgorithmBlocks) => string, { variants, holding }: Others): string {
  const blocks = (Object.keys(algorithmBlocks) as SqlAlgorithm[]).map(
    (name) => [KINDS[name], blockOf(algorithmBlocks[name])] as const,
  )
  const all = [...blocks, [KINDS.holding, holding], [KINDS.variants, variants]] as const
  const others = all.filter(([kind]) => kind !== DEFAULT_KIND).sort(([one], [other]) => one - other)
  return `if p[1] = ${DEFAULT_KIND} then\n${blocks.find(([kind]) => kind === DEFAULT_KIND)?.[1]}\nelse\n${halved(others)}\nend if;`
}

function halved(blocks: readonly (readonly [kind: number, block: string])[]): string {
  if (blocks.length === 1) return blocks[0][1]
  const half = Math.floor(blocks.length / 2)
  const [low, high] = [blocks.slice(0, half), blocks.slice(half)]
  return `if p[1] < ${high[0][0]} then\n${halved(low)}\nelse\n${halved(high)}\nend if;`
}

function keptOf(schema: string): string {
  return `if p[1] = ${KINDS.variants} then return ${schema}.limit1_reset_of_variants(p, c, now, true); end if;
if p[1] <> ${KINDS.holding} then return ${schema}.limit1_reset_after(p, c, now); end if;
${holdingBlocks.kept}`
}

/** Calls the functions that have decided the same request: their expressions are prepared. */
function verdictOf(schema: string): string {
  return `declare
  units float8 := ${schema}.limit1_remaining(p, c, now);
  grows_ms float8 := 0;
begin
  if units < p[2] then
    if wait_ms > 0 and cost = units + 1 then grows_ms := wait_ms;
    else grows_ms := ${schema}.limit1_wait(p, c, now, units + 1);
    end if;
  end if;
  return units || ' ' || wait_ms || ' ' || ${schema}.limit1_reset_after(p, c, now) || ' ' || grows_ms;
end;`
}

function searches(): readonly (readonly [string, string, string, string])[] {
  return Object.entries(algorithmBlocks).flatMap(([name, { search }]: [string, AlgorithmBlocks]) =>
    search
      ? [[`search_${name.replaceAll('-', '_')}`, `${PLAIN}, cost float8, guess float8`, 'float8', search] as const]
      : [],
  )
}
