export { type FileProblem, PolicyFileError } from './document/file-problem.ts'
export { parseDocument as parsePolicies } from './document/parse-document.ts'
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
