/** The cost parameters of scrypt (RFC 7914): a hash takes 128 * N * r bytes of memory, p times. */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** The cost of a hash: 32 MB and about 0.3 s (OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3). */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 }
