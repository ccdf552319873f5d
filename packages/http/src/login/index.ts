export type {
  AllowedLogin,
  ChallengedLogin,
  DeniedLogin,
  LoginAttempt,
  LoginReason,
} from './login-attempt.ts'
export type {
  FailureLimit,
  FailureLimits,
  LoginCheck,
  LoginOptions,
  LoginProofOptions,
  LoginRequest,
} from './login-options.ts'
export { type ProofOfWork, type ProofOfWorkOptions, type ProofOptions, proofOfWork } from './proof-of-work.ts'
export { type ProofFieldOptions, type ProofPageOptions, proofField, proofPage } from './proof-page.ts'
export { type LoginProtection, protectLogin } from './protect-login.ts'
export type { ProofChallenge } from './tasks.ts'
