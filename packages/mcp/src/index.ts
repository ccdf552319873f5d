export * from '@sluice/http/shared'
export type { CallDenial } from './denial.ts'
export {
  type CallInflightLimitOptions,
  type CallLimits,
  type CallRateLimitOptions,
  type LimitToolsOptions,
  limitTools,
  type ToolLimits,
} from './limit-tools.ts'
export type { LimitableServer } from './limited-server.ts'
export type { CallAuth, McpCall, McpRequest, PrincipalHook } from './mcp-call.ts'
export type { ToolBudget, ToolBudgetOption } from './tool-budget.ts'
export type { CallReply, CallResult } from './tool-exchange.ts'
