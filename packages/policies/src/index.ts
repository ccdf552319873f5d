export { type CheckOptions, checkPolicies } from './check/check-policies.ts'
export type { FindingRule, FindingSeverity, PolicyFinding } from './check/policy-finding.ts'
export { type FileProblem, PolicyFileError } from './document/file-problem.ts'
export type {
  AttributeValue,
  PolicyDocument,
  WrittenCost,
  WrittenList,
  WrittenLists,
  WrittenOverride,
  WrittenPolicy,
} from './document/policy-document.ts'
export { policySchema } from './document/policy-schema.ts'
export type { AttributeSource } from './matching/attribute-source.ts'
export type { FilePolicy } from './matching/file-policy.ts'
export { type MatchedPolicy, PolicyMatcher } from './matching/policy-matcher.ts'
export { type ParseOptions, parseDocument as parsePolicies } from './parse/parse-document.ts'
