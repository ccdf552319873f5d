const BREAKING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * Replaces line breaks, control characters and bidirectional controls, so that untrusted text is safe in logs and
 * terminals.
 */
export function singleLine(text: string): string {
  return text.replace(BREAKING, '\ufffd')
}
