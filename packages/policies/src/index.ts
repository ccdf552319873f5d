export type { SluiceCode } from '@sluice/limiter-core'
export { type CheckOptions, checkPolicies } from './check/check-policies.ts'
export type { FindingRule, FindingSeverity, PolicyFinding } from './check/policy-finding.ts'
export { type FileProblem, PolicyFileError } from './document/file-problem.ts'
export type {
  AttributeValue,
  PolicyDocument,
  WrittenBan,
  WrittenCost,
  WrittenList,
  WrittenLists,
  WrittenOverride,
  WrittenPolicy,
} from './document/policy-document.ts'
export { policySchema, type SchemaPart } from './document/policy-schema.ts'
export { compileList } from './lists/compile-list.ts'
export type { EntryList } from './lists/entry-list.ts'
export { type ListFile, listFile } from './lists/list-file.ts'
export type { LoadedList } from './lists/list-report.ts'
export { BLOCK_LIST, type ListAnswer, PolicyLists } from './lists/policy-lists.ts'
export type { LoadedPolicies } from './loaded-policies.ts'
export type { AttributeMatch } from './matching/attribute-match.ts'
export { type AttributeSource, countedMethod } from './matching/attribute-source.ts'
export type { FileOverrides } from './matching/file-overrides.ts'
export type { ConditionFailed, FilePolicy } from './matching/file-policy.ts'
export type { PolicyKey } from './matching/policy-key.ts'
export { type MatchedPolicy, PolicyMatcher } from './matching/policy-matcher.ts'
export { RoutePolicies, type RoutePolicy } from './matching/route-policies.ts'
export { type ParseOptions, parseDocument as parsePolicies } from './parse/parse-document.ts'
export { loadPolicies, type PoliciesOptions, type PolicyOptions, policies } from './policies.ts'
export type { AttributeFunction, AttributeFunctions } from './requests/request-attributes.ts'
export { fileSource } from './source/file-source.ts'
export type { PolicySource, WatchOptions, WritablePolicySource } from './source/policy-source.ts'
export { type PostgresSourceOptions, postgresSource } from './source/postgres-source.ts'
export type { RedisPolicyClient } from './source/redis-hash.ts'
export { type RedisSourceOptions, redisSource } from './source/redis-source.ts'
export { type UrlSourceOptions, urlSource } from './source/url-source.ts'
