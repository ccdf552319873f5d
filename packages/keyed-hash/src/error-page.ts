const PAGE = 'https://github.com/sluicejs/sluice/blob/main/docs/errors.md'

/** `message` and where its code is explained. For packages of this suite: nothing is promised to others. */
export function withPage(code: string, message: string): string {
  const page = ` (${PAGE}#${code.toLowerCase()})`
  // a message about an error of the same code has it already
  return message.endsWith(page) ? message : message + page
}
