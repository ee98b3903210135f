/**
 * Everything the domain refuses, as classes free of HTTP and GraphQL. Each door maps a class to its protocol once:
 * `http/errors.ts` to a status, `graphql/errors.ts` to a type. Anything else that is thrown is a bug, and is masked.
 */

/** Stable codes that callers may rely on. The REST ones are the contract's (§2). */
export const errorCodes = [
  'INVALID_INPUT',
  'MISSING_TARGET',
  'INVALID_TARGET',
  'TARGET_NOT_PUBLIC',
  'INVALID_JSON',
  'NO_TARGETS',
  'TOO_MANY_TARGETS',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'PRO_PLAN_REQUIRED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'NOT_APPLIED',
  'IDEMPOTENCY_KEY_REUSED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'DAILY_LIMIT_EXCEEDED',
  'RATE_LIMITED',
  'TIER_LIMIT_REACHED',
  'TIMELINE_FULL',
  'UNAVAILABLE',
  'UNKNOWN_TIER',
  'ALREADY_ON_TIER',
  'PAYMENT_LINK_NOT_CONFIGURED',
  'PAYMENT_PROVIDER_NOT_CONFIGURED',
  'PAYMENT_PROVIDER_UNAVAILABLE',
  'WEBHOOK_NOT_CONFIGURED',
  'INVALID_SIGNATURE',
  'INVALID_PAYLOAD',
  'INVALID_TOKEN',
  'INTERNAL',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** One thing that is wrong with an input; `path` names the field, from the outside in. */
export interface Issue {
  readonly path: readonly string[]
  readonly message: string
}

/** An expected failure: its message is written for the caller, its code is stable. */
export abstract class DomainError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
  }
}

/** The input cannot be used as it is. */
export class Invalid extends DomainError {
  readonly issues: readonly Issue[]

  constructor(code: ErrorCode, message: string, issues: readonly Issue[] = []) {
    super(code, message)
    this.issues = issues
  }
}

/** The caller is not known: no key where one is needed, or one that does not hold. */
export class Unauthenticated extends DomainError {}

/** The caller is known and may not do this. */
export class Forbidden extends DomainError {}

/** There is no such thing, or the caller may not know of it. */
export class NotFound extends DomainError {
  constructor(message: string, code: ErrorCode = 'NOT_FOUND') {
    super(code, message)
  }
}

/** The thing changed meanwhile, or exists already. */
export class Conflict extends DomainError {
  constructor(message: string, code: ErrorCode = 'CONFLICT') {
    super(code, message)
  }
}

/** The plan's allowance is used up until `resetsAt`. */
export class LimitExceeded extends DomainError {
  readonly limit: number
  readonly resetsAt: Date

  constructor(message: string, limit: number, resetsAt: Date) {
    super('DAILY_LIMIT_EXCEEDED', message)
    this.limit = limit
    this.resetsAt = resetsAt
  }
}

/** Too much of something that has to be bounded, from one caller or to one destination; it works again at `retryAt`. */
export class RateLimited extends DomainError {
  readonly retryAt: Date

  constructor(message: string, retryAt: Date) {
    super('RATE_LIMITED', message)
    this.retryAt = retryAt
  }
}

/** The organization has as many of these as its tier allows. */
export class TierLimitReached extends DomainError {
  readonly limit: number

  constructor(message: string, limit: number) {
    super('TIER_LIMIT_REACHED', message)
    this.limit = limit
  }
}

/** Something outside that this needs does not answer now; trying again later is sensible. */
export class Unavailable extends DomainError {
  constructor(message: string, code: ErrorCode = 'UNAVAILABLE') {
    super(code, message)
  }
}

/**
 * The database does not answer, or cannot write. It is no refusal of the domain's and no member of any union: nothing of
 * what was asked for could be answered, and trying again in a few seconds is sensible.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  readonly code = 'UNAVAILABLE' satisfies ErrorCode
  /** When to try again, in seconds from now. */
  readonly retryAfter = 5

  constructor(options?: ErrorOptions) {
    super('The service cannot reach its database at the moment. Try again in a few seconds.', options)
  }
}

/** The service cannot start as it is set up. The message is for the operator and says what to do; it needs no stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
