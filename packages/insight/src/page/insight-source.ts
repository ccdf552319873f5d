import type { AuditLine, ControlEntry, ControlRequest } from '../control/control.ts'
import type { Explanation } from '../explain/explanation.ts'
import type { ExplainOptions } from '../insight.ts'
import type { SnapshotSource } from './page-stream.ts'

/** The part of `Insight` that a dashboard displays and controls. */
export interface InsightSource extends SnapshotSource {
  explain(key: string, options?: ExplainOptions): Promise<Explanation>
  keyOf(id: string): string | undefined
  control(request: ControlRequest): Promise<ControlEntry>
  undo(id: string, by?: string): Promise<boolean>
  controls(): readonly ControlEntry[]
  audit(): readonly AuditLine[]
}
