import { CommandFailure, EXIT } from '../terminal/exit-code.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Characters of a header. */
const VISIBLE = /^[\x21-\x7e]+$/

/** Returns the token of a live page: the option, or the variable SLUICE_TOKEN. Throws without showing the token. */
export function tokenOf(option: string | undefined, { SLUICE_TOKEN }: Terminal['env']): string | undefined {
  const token = option ?? (SLUICE_TOKEN || undefined)
  if (token === undefined || VISIBLE.test(token)) return token
  throw new CommandFailure(EXIT.usage, 'token: expected printable ASCII characters without spaces, received others')
}
