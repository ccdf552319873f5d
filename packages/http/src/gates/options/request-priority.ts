import {
  badOption,
  isHeaderName,
  type MaybePromise,
  oneOf,
  optionsOf,
  type Priority,
  type RequestHook,
  type RequestView,
} from '@sluice/limiter-core/http'
import { PRIORITIES } from '../../overload/priority/levels.ts'
import { type LimiterReport, reportUnlessPreflight } from '../../report/limiter-report.ts'
import { runHook } from './hook.ts'

/** The header that names the priority of a request. */
interface PriorityHeader {
  readonly header: string
}

/** Importance of a request, or the header that names it. */
export type PriorityOption<Req> = RequestHook<[req: Req], Priority> | PriorityHeader

/** Throws `SLUICE_BAD_OPTION` if the option is invalid. */
export function checkPriorityOption(priority: PriorityOption<never> | undefined): void {
  if (priority === undefined || typeof priority === 'function') return
  const { header } = optionsOf('priority', priority, ['header'])
  if (!isHeaderName(header)) throw badOption('priority.header', header, 'the name of a header')
}

/**
 * Returns the priority of a request; undefined, which means `normal`, without the option and for an unknown name in the
 * header. If the function fails, the priority is `normal` and the failure is reported.
 */
export function priorityOf<Req>(
  priority: PriorityOption<Req> | undefined,
  view: RequestView<Req>,
  report: LimiterReport,
): MaybePromise<Priority | undefined> {
  if (priority === undefined) return undefined
  if (typeof priority !== 'function') return knownPriority(view.header(priority.header))
  const accept = (value: Priority): Priority => oneOf('priority', value, PRIORITIES)
  return runHook('priority', () => priority(view.raw), accept, 'normal', reportUnlessPreflight(view, report))
}

/** A client may send any text; an unknown priority is `normal`. */
function knownPriority(text: string | undefined): Priority | undefined {
  return PRIORITIES.find((name) => name === text)
}
