import type { PasswordCost } from '../../src/people/credential/password-cost.ts'

/** In tests in place of the cost of `src/people/credential/password-cost.ts`: a hash takes a thirtieth of the time. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 10, r: 8, p: 3 }
