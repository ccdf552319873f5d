const BREAKING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** For logs and terminals: no line ends, escapes or changes of direction that a stranger wrote. */
export function singleLine(text: string): string {
  return text.replace(BREAKING, '\ufffd')
}
