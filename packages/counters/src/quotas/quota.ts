import type { PolicyInput } from '@sluice/limiter-core/backend'
export interface QuotaOptions extends Omit<PolicyInput, 'window' | 'calendar' | 'algorithm'> {
  per: 'day' | 'week' | 'month'
  timeZone?: string
  anchor?: number
  carryOver?: number
}
export function quota({ per, timeZone = 'UTC', anchor, carryOver, ...rest }: QuotaOptions): PolicyInput {
  return {
    name: 'quota',
    ...rest,
    window: per === 'month' ? '31d' : per === 'week' ? '7d' : '1d',
    calendar: { per, timeZone, ...(anchor !== undefined && { anchor }), ...(carryOver !== undefined && { carryOver }) },
  } as PolicyInput
}
