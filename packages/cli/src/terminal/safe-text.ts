/**
 * Characters that a terminal obeys, or that change the order or visibility of others: controls, format characters,
 * surrogates without a partner, unassigned characters, and separators of lines.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu
/** Most characters of a text in a table. */
const MAX_CELL = 48

/**
 * Returns a text that a terminal shows and does not obey: control characters, characters without a width and unpaired
 * surrogates appear as `\x1b` or `\u{202e}`.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escaped)
}

/** Like `safeText`, and cut after 48 characters. */
export function cellText(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAX_CELL))
  if (characters.length <= MAX_CELL && text.length <= 2 * MAX_CELL) return safeText(text)
  return `${safeText(characters.slice(0, MAX_CELL - 1).join(''))}…`
}

/** Returns a value as JSON on one line, which contains no character that a terminal obeys. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) => {
    return Array.from({ length: character.length }, (_, unit) => unitEscape(character.charCodeAt(unit))).join('')
  })
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

function unitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
