export type {
  AllowedLogin,
  ChallengedLogin,
  DeniedLogin,
  LoginAttempt,
  LoginReason,
} from './login-attempt.ts'
export type { FailureLimit, FailureLimits, LoginOptions, LoginRequest, ProofOptions } from './login-options.ts'
export type { ProofChallenge } from './proof-of-work.ts'
export { type ProofPageOptions, proofPage } from './proof-page.ts'
export { type LoginProtection, protectLogin } from './protect-login.ts'
