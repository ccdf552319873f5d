export { createInsight, type InsightOptions } from './create-insight.ts'
export type { Insight } from './insight.ts'
export type { Privacy } from './privacy.ts'
