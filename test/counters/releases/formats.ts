import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as lua from '../../../packages/counters/src/lua/generated.ts'
import { CounterTables } from '../../../packages/counters/src/postgres/counter-tables.ts'
import { ledgerStatements } from '../../../packages/counters/src/postgres/ledger-statements.ts'
import { quotaStatements } from '../../../packages/counters/src/postgres/quota-statements.ts'

const FOLDER = join(import.meta.dirname, 'pinned')
/** The text with which each script begins. */
const LUA_HEAD = 'lua/head.lua'

/** The texts that a process sends to PostgreSQL and Redis while it counts. */
export const TEXT_FILES = [
  ...['apply.sql', 'read.sql', 'tokens.sql', 'clear.sql', 'list.sql', 'sum.sql'],
  ...['quota-read.sql', 'quota-commit.sql', 'quota-token.sql', 'quota-due.sql'],
  ...[LUA_HEAD, 'lua/count.lua', 'lua/close.lua', 'lua/finish.lua', 'lua/seed.lua', 'lua/clear.lua', 'lua/renew.lua'],
] as const

/** Returns the texts of this release by file name. */
export function currentTexts(): ReadonlyMap<string, string> {
  const { apply, read, tokens, clear, list, sum } = ledgerStatements(new CounterTables('sluice'))
  const quotas = quotaStatements(new CounterTables('sluice'))
  return new Map([
    ['quota-read.sql', quotas.read],
    ['quota-commit.sql', quotas.commit],
    ['quota-token.sql', quotas.usedToken],
    ['quota-due.sql', quotas.due],
    ['apply.sql', apply],
    ['read.sql', read],
    ['tokens.sql', tokens],
    ['clear.sql', clear],
    ['list.sql', list],
    ['sum.sql', sum],
    [LUA_HEAD, withoutComments(lua.counterHead)],
    ['lua/count.lua', withoutComments(lua.counterCount)],
    ['lua/close.lua', withoutComments(lua.counterClose)],
    ['lua/finish.lua', withoutComments(lua.counterFinish)],
    ['lua/seed.lua', withoutComments(lua.counterSeed)],
    ['lua/clear.lua', withoutComments(lua.counterClear)],
    ['lua/renew.lua', withoutComments(lua.counterRenew)],
  ])
}

export function pinned(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
}

/** Returns a pinned script with its beginning. */
export function pinnedScript(file: string): string {
  return pinned(LUA_HEAD) + pinned(file)
}

/** Returns the pinned text. If `SLUICE_PIN` is set, `current` becomes the pinned text. */
export function pinnedOr(file: string, current: string): string {
  if (process.env.SLUICE_PIN !== undefined) writeFileSync(join(FOLDER, file), current)
  return pinned(file)
}

function withoutComments(lua: string): string {
  const lines = lua.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('--'))
  return `${lines.join('\n')}\n`
}
