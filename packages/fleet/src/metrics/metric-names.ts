import { badOption, kindOf, SluiceError } from '@sluice/limiter-core/backend'

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
// names starting with __ are reserved by Prometheus: __name__ would be another metric
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

/** Returns `value` if it is a valid name of a metric; throws `SLUICE_BAD_OPTION` otherwise. */
export function metricName(option: string, value: unknown): string {
  if (typeof value === 'string' && METRIC_NAME.test(value)) return value
  throw badOption(option, value, 'ASCII letters, digits, _ and :, not starting with a digit')
}

/**
 * Returns `value` if it is a valid name of a label; throws `SLUICE_BAD_OPTION` otherwise. `owner` starts the message.
 */
export function labelName(owner: string, value: unknown): string {
  if (typeof value === 'string' && LABEL_NAME.test(value)) return value
  throw badOption(`${owner}: label name`, value, 'ASCII letters, digits and _, not starting with a digit or __')
}

/** Throws `SLUICE_BAD_OPTION` for the label `le`, which histograms use themselves. */
export function rejectBucketLabel(owner: string, name: string): void {
  if (name === 'le') throw badOption(`${owner}: label name`, name, 'a name other than le, the label of bucket bounds')
}

/** Returns `value` if it is a string; throws `SLUICE_BAD_OPTION` otherwise. */
export function stringOf(option: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a string, received ${kindOf(value)}`)
}

/** Returns `value` if it is a number, including NaN and the infinities; throws `SLUICE_BAD_OPTION` otherwise. */
export function numberOf(option: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected a number, received ${kindOf(value)}`)
}
