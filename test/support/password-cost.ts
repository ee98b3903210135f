import type { PasswordCost } from '../../src/people/password-cost.ts'

/** Replaces the cost of `src/people/password-cost.ts` in tests: a hash takes a thirtieth of the time. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 10, r: 8, p: 3 }
