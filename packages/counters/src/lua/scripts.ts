import type { Script } from '@sluice/limiter-core'
import * as lua from './generated.ts'

// The Lua scripts of counters in Redis. Each begins with counter-head.lua.

export const countScript: Script = scriptOf('counter-count', lua.counterCount)
export const closeScript: Script = scriptOf('counter-close', lua.counterClose)
export const finishScript: Script = scriptOf('counter-finish', lua.counterFinish)
export const seedScript: Script = scriptOf('counter-seed', lua.counterSeed)
export const clearScript: Script = scriptOf('counter-clear', lua.counterClear)
export const renewScript: Script = scriptOf('counter-renew', lua.counterRenew)
export const owedScript: Script = scriptOf('counter-owed', lua.counterOwed)

function scriptOf(name: string, text: string): Script {
  return { name, text: `${lua.counterHead}\n${text}` }
}
