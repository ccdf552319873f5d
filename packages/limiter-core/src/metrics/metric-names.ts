import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
// names starting with __ are reserved by Prometheus: __name__ would be another metric
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

/** `value` where a metric may have this name; throws `SLUICE_BAD_OPTION` otherwise. */
export function metricName(option: string, value: unknown): string {
  if (typeof value === 'string' && METRIC_NAME.test(value)) return value
  throw badOption(option, value, 'letters of ASCII, digits, _ and :, no digit first')
}

/** `value` where a label may have this name; throws `SLUICE_BAD_OPTION` otherwise. `owner` begins the message. */
export function labelName(owner: string, value: unknown): string {
  if (typeof value === 'string' && LABEL_NAME.test(value)) return value
  throw badOption(`${owner}: label name`, value, 'letters of ASCII, digits and _, no digit and no __ first')
}

/** Throws `SLUICE_BAD_OPTION` for a label that a histogram has already. */
export function refuseBoundLabel(owner: string, name: string): void {
  if (name === 'le') throw badOption(`${owner}: label name`, name, 'another one: it has the bounds of buckets')
}

/** Returns `value` if it is a string; throws `SLUICE_BAD_OPTION` otherwise. */
export function textOf(option: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a text, received ${kindOf(value)}`)
}

/** `value` where it is a number, NaN and the infinite ones among them; throws `SLUICE_BAD_OPTION` otherwise. */
export function numberOf(option: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a number, received ${kindOf(value)}`)
}
