import { badOption } from '@sluice/limiter-core/backend'
import { JsonLines } from './json-line.ts'
import { combinedFormat, LineFormat } from './line-format.ts'
import type { LogEntry } from './log-entry.ts'

/** Parses one line. Returns a text that says what is wrong if the line is not valid. */
export type LineParser = (line: string) => LogEntry | string

const OPENING_BRACE = 123

/**
 * Returns the parser of a format: `auto` (each line as JSON if it starts with `{`, otherwise as Common or Combined),
 * `common`, `combined`, `json`, or a format in the syntax of nginx's `log_format`. Throws `SLUICE_BAD_OPTION`.
 */
export function lineParser(format = 'auto'): LineParser {
  if (typeof format === 'string' && format.includes('$')) {
    const lines = new LineFormat(format)
    return (line) => lines.parse(line)
  }
  const access = combinedFormat()
  const json = new JsonLines()
  switch (format) {
    case 'auto':
      return (line) => (line.charCodeAt(0) === OPENING_BRACE ? json.parse(line) : access.parse(line))
    case 'json':
      return (line) => json.parse(line)
    case 'common':
    case 'combined':
      return (line) => access.parse(line)
    default:
      throw badOption(
        'format',
        format,
        "'auto', 'common', 'combined', 'json' or a format with variables such as $status",
      )
  }
}
